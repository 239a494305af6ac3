"""Builds iCalendar invitations."""

from datetime import datetime, timedelta


def escape(text):
    """Text with the signs escaped that mean something in iCalendar."""
    return text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\n", "\\n")


def fold(line):
    """A line folded after 75 octets."""
    parts, width, part = [], 75, b""
    for sign in line:
        octets = sign.encode("utf-8")
        if len(part) + len(octets) > width:
            parts.append(part.decode("utf-8"))
            part, width = b"", 74
        part += octets
    return "\r\n ".join([*parts, part.decode("utf-8")])


def event(
    uid, start, minutes, summary, place="", attendees=(), zone="", sequence=0, status="", rule="", remind=0
):
    """The lines of one event."""
    begin = datetime.fromisoformat(start)
    at = f";TZID={zone}:" if zone else ":"
    lines = [
        "BEGIN:VEVENT",
        f"UID:{uid}",
        f"SEQUENCE:{sequence}",
        f"DTSTART{at}{begin:%Y%m%dT%H%M%S}",
        f"DTEND{at}{begin + timedelta(minutes=minutes):%Y%m%dT%H%M%S}",
        f"SUMMARY:{escape(summary)}",
    ]
    lines += [f"LOCATION:{escape(place)}"] if place else []
    lines += [f"ATTENDEE;RSVP=TRUE:mailto:{address}" for address in attendees]
    lines += [f"STATUS:{status}"] if status else []
    lines += [f"RRULE:{rule}"] if rule else []
    if remind:
        lines += [
            "BEGIN:VALARM",
            "ACTION:DISPLAY",
            f"TRIGGER:-PT{remind}M",
            "DESCRIPTION:Reminder",
            "END:VALARM",
        ]
    return [*lines, "END:VEVENT"]


def calendar(events, method="REQUEST"):
    """A whole calendar as text."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//meeting-invite-builder//EN", f"METHOD:{method}"]
    for one in events:
        lines += one
    return "\r\n".join(map(fold, [*lines, "END:VCALENDAR"])) + "\r\n"
