import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BatchEvent } from '#domain/batches/events.ts'
import { projectionOf } from '../projection.ts'

/** The batches that have not ended. `channel_id` is null until a provider has accepted a batch. */
export const openBatchesProjection = projectionOf<BatchEvent>({
  name: 'open-batches',
  version: 1,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { batches: { key: ['batch'] } },
  handlers: {
    BatchSubmitted: ({ data }, rows) =>
      rows.insert('batches', { batch: data.batch }, { channel_id: null }),
    BatchAccepted: ({ data }, rows) =>
      rows.patch('batches', { batch: data.batch }, { channel_id: data.channelId }),
    BatchEnded: ({ data }, rows) => rows.remove('batches', { batch: data.batch }),
  },
})
