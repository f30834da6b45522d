/* The ring between one sender and the owner of a region: impl/transport/shm/ring.h, layout.h.
 *
 * Models Outbound::publish (publish_line is its case of one line with nothing to clear), has_room and refresh, and
 * Inbound::poll and give_back as ShmTransport::drain calls them.
 *
 *     here              in the code
 *     FIRST(n)          first word of line n: parity, lines of the frame, and which frame it is; or a word of payload
 *     REST(n)           what else is in line n: which frame it belongs to
 *     CONSUMED          SlotControl::consumed
 *     at, room, litter  Outbound: position, limit - position, littered - position (or zero)
 *     starts            Outbound::starts: the lines that began a frame when they were last written
 *     next, unreturned  Inbound: position, position - returned
 *
 * Abstracted: a ring of LINES lines for 1024; frames of one or two lines for up to 257; consumed lines are given back
 * two at a time for 256. Positions are modulo two laps, as nothing but their differences and the parity of the lap is
 * looked at, and frames are numbered modulo more than the ring holds: so the model runs for ever, and what is checked
 * holds for any number of laps. The first word of a line of payload has either parity, whichever does more harm.
 *
 * Property: every frame is taken once, whole, and in order; what is left of the lap before is never taken for one.
 * Neither side waits for ever while the other could go on (invalid end state).
 *
 * Mutations: LITTER_LEFT (the first word behind a frame is not cleared), START_KEPT (a line of payload is still held for
 * the start of a frame), GIVEN_BACK_EARLY (lines are given back before
 * they are read), NO_SPARE_LINE (a frame may take all lines that are free); and, where stores reorder,
 * FIRST_WORD_RELAXED (no release store).
 */
#define LINES 4
#define FRAMES 5
#define RETURN 2
#define POSITIONS (2 * LINES)
#define PAYLOAD 31

#define THREADS 2
#define WORDS (2 * LINES + 1)
#define DEPTH 5  /* stores of a frame of two lines */
#include "../../../test/models/tso.pml"

#define SENDER 0
#define OWNER 1

#define FIRST(position) ((position) % LINES)
#define REST(position) (LINES + (position) % LINES)
#define CONSUMED (2 * LINES)

/* Bit 7 of a first word is the parity, bit 6 is set in a frame of two lines, the rest tells the frame; 0: none. */
#define PARITY(position) (((position) / LINES + 1) % 2)
#define WORD(parity, two, frame) (((parity) << 7) | ((two) << 6) | (frame))
#define PARITY_OF(word) ((word) >> 7)
#define TWO(word) (((word) >> 6) & 1)
#define FRAME(word) ((word) & 31)

#define LINE_BIT(position) (1 << ((position) % LINES))
#define BEGAN(position) ((starts & LINE_BIT(position)) != 0)

#define AHEAD(from, to) (((to) + POSITIONS - (from)) % POSITIONS)

#ifdef FIRST_WORD_RELAXED
#define publish_first store
#else
#define publish_first store_release
#endif
#ifdef NO_SPARE_LINE
#define HAS_ROOM(room, lines) ((room) >= (lines))
#else
#define HAS_ROOM(room, lines) ((room) > (lines))
#endif

active proctype sender() {
    byte at, litter, lines, parity;
    byte room = LINES;
    byte frame = 1;
    byte starts = (1 << LINES) - 1;

    do
    :: /* a frame of one or two lines */
        if
        :: lines = 1
        :: lines = 2
        fi;
        if
        :: HAS_ROOM(room, lines) -> skip
        :: else ->
            /* Refreshed until there is room. */
            atomic {
                HAS_ROOM(LINES - AHEAD(ram[CONSUMED], at), lines) -> room = LINES - AHEAD(ram[CONSUMED], at)
            }
        fi;
        if
        :: lines == 2 ->
            if
            :: parity = 0
            :: parity = 1
            fi;
            store(SENDER, FIRST(at + 1), WORD(parity, 0, PAYLOAD));
            store(SENDER, REST(at + 1), frame);
            d_step {
                parity = 0;
                litter = lines + LINES;
                starts = starts | LINE_BIT(at);
#ifndef START_KEPT
                starts = starts & (LINE_BIT(at + 1) ^ ((1 << LINES) - 1))
#endif
            }
        :: lines == 1 && litter > lines -> starts = starts | LINE_BIT(at)
        :: else -> skip
        fi;
#ifndef LITTER_LEFT
        if
        :: litter > lines && !BEGAN(at + lines) -> store(SENDER, FIRST(at + lines), WORD(1 - PARITY((at + lines) % POSITIONS), 0, 0))
        :: else -> skip
        fi;
#endif
        store(SENDER, REST(at), frame);
        publish_first(SENDER, FIRST(at), WORD(PARITY(at), lines - 1, frame));
        d_step {
            at = (at + lines) % POSITIONS;
            room = room - lines;
            litter = (litter > lines -> litter - lines : 0);
            frame = (frame == FRAMES -> 1 : frame + 1);
            lines = 0
        }
    od
}

#define ARRIVED (PARITY_OF(ram[FIRST(next)]) == PARITY(next))

active proctype owner() {
    byte next, first, word, lines, unreturned;
    byte expected = 1;

    do
    :: atomic { ARRIVED -> first = ram[FIRST(next)] }
        assert(FRAME(first) == expected);
        lines = 1 + TWO(first);
#ifdef GIVEN_BACK_EARLY
        store_release(OWNER, CONSUMED, (next + lines) % POSITIONS);
#endif
        load(OWNER, REST(next), word);
        assert(word == expected);
        if
        :: lines == 2 ->
            load(OWNER, FIRST(next + 1), word);
            assert(FRAME(word) == PAYLOAD);
            load(OWNER, REST(next + 1), word);
            assert(word == expected)
        :: else -> skip
        fi;
        d_step {
            next = (next + lines) % POSITIONS;
            unreturned = unreturned + lines;
            expected = (expected == FRAMES -> 1 : expected + 1);
            first = 0;
            word = 0;
            lines = 0
        }
        if
        :: ARRIVED -> skip  /* the next frame of the same batch */
        :: unreturned < RETURN -> skip
        :: unreturned >= RETURN ->
            store_release(OWNER, CONSUMED, next);
            unreturned = 0
        fi
    od
}
