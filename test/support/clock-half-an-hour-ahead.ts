const AHEAD_MS = 1_800_000
const rightNow = Date.now.bind(Date)

/** Product processes preload this module through `NODE_OPTIONS`. */
Date.now = () => rightNow() + AHEAD_MS
