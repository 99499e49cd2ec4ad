"""How each kind of block is drawn: functions from a block to lines of styled text."""
