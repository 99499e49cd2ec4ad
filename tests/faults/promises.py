"""What the store promises, by the numbers that layers and mutants name."""

from __future__ import annotations

PROMISES = {
    "I1": "An acknowledged record survives any signal and the death of the process; if it was"
    " asked for at D1, also the loss of power.",
    "I2": "What a person said, results of tools and everything before an effect on the world are"
    " written at D1; the rest at D0.",
    "I3": "An act that fails leaves the old state or the new one, on disk and in memory alike.",
    "I4": "However a revert, compaction, restore or clear is cut off, the live log is the old one"
    " or the new one, to the byte.",
    "I5": "With the new log there is one new archive, the old log to the byte; with the old log"
    " there is none.",
    "I6": "An archive never changes, and its number is never given again.",
    "I7": "A restore copies: the archive stays, and the log that was replaced becomes one.",
    "I8": "A compaction is applied only to the very bytes that were summarised; what came later is"
    " kept behind it.",
    "I9": "What a revert keeps is copied byte for byte, never written anew.",
    "I10": "Reading never fails, hangs or writes, whatever a file holds.",
    "I11": "Only the newline byte ends a line.",
    "I12": "An unfinished last line is data only if it is whole; its bytes stay, and the next"
    " record begins on a line of its own.",
    "I13": "A bad line is counted and shown, hides no other line, and stays where it is.",
    "I14": "What cannot be read now is an error, never an empty session.",
    "I15": "Numbers used twice and parents in a circle do no harm.",
    "I16": "A line of 100 MB and a million checkpoints are read in bounded memory, or refused in"
    " words.",
    "I17": "What a provider would refuse is put right in memory only, never on disk.",
    "I18": "One exclusive lock for the length of each change; one window writes a session.",
    "I19": "Each change opens the log anew, by its name, under the lock.",
    "I20": "A lock that is held too long means an error, and is never stolen.",
    "I21": "Readers need no lock.",
    "I22": "A full disk, a limit or a lack of descriptors stops an act, leaves the old state, and"
    " work goes on when it is over.",
    "I23": "A file that failed to be flushed is never trusted again: the log moves to a new one.",
    "I24": "No link is followed, and only regular files are opened.",
    "I25": "Files are for their owner only, under any umask.",
    "I26": "Nothing is decided by the clock.",
    "I27": "A signal waits for the write under way; the terminal is always given back.",
    "I28": "A cancelled task settles its write first: memory never runs ahead of the disk.",
    "I29": "A revert of files is made wholly or not at all, and the next start says which.",
    "I30": "A capture tells no untruth: what it says is kept, what it does not say is found again.",
}
