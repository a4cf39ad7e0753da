"""Adapters: one function for each provider of wearable data, from its answers to a session."""

from ._adapt import Adapted, Person, UsedPart, UsedSleep
from ._error import AdapterError
from ._records import Left
from .apple_health import from_apple_health
from .fitbit_archive import from_fitbit_archive
from .garmin import from_garmin
from .garmin_connect import from_garmin_connect
from .google_health import from_google_health
from .health_auto_export import from_health_auto_export
from .health_connect import from_health_connect
from .junction import from_junction
from .oura import from_oura
from .polar import from_polar
from .terra import from_terra
from .whoop import from_whoop
from .withings import from_withings

__all__ = [
    "Adapted",
    "AdapterError",
    "Left",
    "Person",
    "UsedPart",
    "UsedSleep",
    "from_apple_health",
    "from_fitbit_archive",
    "from_garmin",
    "from_garmin_connect",
    "from_google_health",
    "from_health_auto_export",
    "from_health_connect",
    "from_junction",
    "from_oura",
    "from_polar",
    "from_terra",
    "from_whoop",
    "from_withings",
]
