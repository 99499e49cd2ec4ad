"""A picture that somebody attached: a buoy at the turn of the tide."""

from __future__ import annotations

import PIL.Image
import PIL.ImageDraw

from agent_tui.core.messages import MediaPart
from tests.runtime.test_runtime_pictures import drawn

_SKY, _SEA, _RED, _WHITE = (122, 168, 206), (28, 74, 108), (196, 62, 52), (238, 238, 232)


def draw_buoy() -> MediaPart:
    """The picture as it stands in a message."""
    image = PIL.Image.new("RGB", (240, 120), _SKY)
    draw = PIL.ImageDraw.Draw(image)
    draw.ellipse((180, 12, 208, 40), fill=_WHITE)
    draw.rectangle((0, 84, 240, 120), fill=_SEA)
    draw.polygon(((96, 92), (108, 32), (124, 32), (136, 92)), fill=_RED)
    draw.polygon(((101, 68), (105, 48), (127, 48), (131, 68)), fill=_WHITE)
    draw.rectangle((112, 18, 120, 32), fill=_WHITE)
    return MediaPart("image_url", drawn(image))
