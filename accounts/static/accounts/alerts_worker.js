// The service worker of alerts: shows the messages of accounts/alerts/delivery.py. Its scope is its own folder, so it
// controls no page.
"use strict";

self.addEventListener("push", (event) => {
  const { title, body, url } = event.data.json();
  event.waitUntil(self.registration.showNotification(title, { body, data: url }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow(event.notification.data));
});
