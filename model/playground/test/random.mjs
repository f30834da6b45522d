// A generator of our own: the same numbers on every machine (mulberry32).
export function generator(seed) {
    let state = seed;
    return (n) => {
        state = (state + 0x6d2b79f5) | 0;
        let t = Math.imul(state ^ (state >>> 15), 1 | state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) % n;
    };
}

// Random histories: each is the one before it and one more move, or begins anew.  Yields requests; `answered` gives
// the answer to a request, from which the next move is taken.
export function* histories(texts, random, answered) {
    let steps = [], place = {};
    for (;;) {
        if (!steps.length) place = { profile: texts[random(texts.length)] };
        const request = { ...place, steps };
        yield request;
        const answer = answered(request);
        if (place.entry === undefined) place.entry = random(answer.entries.length);
        // Closing is rare, so that there is something to close.
        const some = answer.moves.filter((m) => !m.step.startsWith("close") || random(3) === 0);
        const move = some[random(some.length)];
        steps = steps.length >= 24 ? [] : [...steps, (move.verdict === "open" && random(6) === 0 ? "!" : "") + move.step];
    }
}
