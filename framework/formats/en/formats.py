"""Days and times in the back office: on a 24-hour clock, day and month in no doubt, moments with their zone."""

DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "Y-m-d H:i e"
TIME_INPUT_FORMATS = ["%H:%M", "%H:%M:%S"]
