import type { ViewRows } from '#relay/views/load-view-rows.ts'

/** Rows of empty read models, for views that are built by reading all events. */
export const NO_ROWS: ViewRows = {
  tokens: { position: 0, rows: [] },
  users: { position: 0, rows: [] },
  channels: { position: 0, rows: [] },
  circuits: { position: 0, rows: [] },
  options: { position: 0, revision: -1, values: new Map() },
}
