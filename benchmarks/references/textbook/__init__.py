"""A Django project as textbooks of Django REST framework write it: serializers, viewsets, filters, pagination."""
