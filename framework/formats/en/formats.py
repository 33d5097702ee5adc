"""Days and times on a 24-hour clock: ISO with the zone in the back office, and the SHORT_ ones on all other pages."""

DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "Y-m-d H:i e"
SHORT_DATE_FORMAT = "j M Y"
SHORT_DATETIME_FORMAT = "j M Y, H:i"
TIME_INPUT_FORMATS = ["%H:%M", "%H:%M:%S"]
