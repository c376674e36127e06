import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BatchEvent } from '#domain/batches/events.ts'
import { projectionOf } from '../projection.ts'

/**
 * The batches that have not ended. `key_ref` is null until a provider has accepted a batch. For
 * batches that were submitted with earlier versions, `channel_id` is null until then, too.
 */
export const openBatchesProjection = projectionOf<BatchEvent>({
  name: 'open-batches',
  version: 2,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { batches: { key: ['batch'] } },
  handlers: {
    BatchSubmitted: ({ data }, rows) =>
      rows.insert(
        'batches',
        { batch: data.batch },
        { channel_id: data.channelId ?? null, key_ref: null },
      ),
    BatchRouted: ({ data }, rows) =>
      rows.patch('batches', { batch: data.batch }, { channel_id: data.channelId }),
    BatchAccepted: ({ data }, rows) =>
      rows.patch(
        'batches',
        { batch: data.batch },
        { channel_id: data.channelId, key_ref: data.keyRef },
      ),
    BatchEnded: ({ data }, rows) => rows.remove('batches', { batch: data.batch }),
  },
})
