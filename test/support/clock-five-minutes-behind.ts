const BEHIND_MS = 300_000
const rightNow = Date.now.bind(Date)

/** Product processes preload this module through `NODE_OPTIONS`. */
Date.now = () => rightNow() - BEHIND_MS
