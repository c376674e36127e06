const BEHIND_MS = 300_000
const rightNow = Date.now.bind(Date)

/** Preloaded into product processes: a machine whose clock is five minutes behind. */
Date.now = () => rightNow() - BEHIND_MS
