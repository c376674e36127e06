import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Recorded } from '#domain/shared/event.ts'
import type {
  SharedTerms,
  TokenEvent,
  TokensDeleted,
  TokensDisabled,
  TokensEnabled,
} from '#domain/token/events.ts'
import { projectionOf } from '../projection.ts'
import type { Cells, RowChanges } from '../runner/row-changes.ts'
import { secondsOf } from '../seconds.ts'

/** The access tokens: references of their keys, never keys. Budgets are with the balances. */
export const tokens = projectionOf<TokenEvent>({
  name: 'tokens',
  version: 2,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { tokens: { key: ['id'] } },
  handlers: {
    TokensCreated: ({ data, meta, position }, rows) => {
      const shared = {
        user_id: data.userId,
        ...cellsOf(data.terms),
        created_at: secondsOf(meta.at),
        changed_position: position,
      }
      for (const { tokenId, name, keyLookup, keyRef, keyHint } of data.tokens) {
        const key = { key_lookup: keyLookup, key_ref: keyRef, key_hint: keyHint }
        rows.insert('tokens', { id: tokenId }, { ...shared, name, ...key })
      }
    },
    TokenTermsChanged: ({ data: { tokenId, terms }, position }, rows) => {
      const cells = { name: terms.name, ...cellsOf(terms), changed_position: position }
      rows.patch('tokens', { id: tokenId }, cells)
    },
    TokensEnabled: (event, rows) => patchAll(event, rows, { status: 1 }),
    TokensDisabled: (event, rows) => patchAll(event, rows, { status: 2 }),
    TokensDeleted: (event, rows) => patchAll(event, rows, { is_deleted: true }),
  },
})

type OfSeveral = Recorded<TokensEnabled | TokensDisabled | TokensDeleted>

function patchAll({ data, position }: OfSeveral, rows: RowChanges, cells: Cells): void {
  for (const id of data.tokenIds) {
    rows.patch('tokens', { id }, { ...cells, changed_position: position })
  }
}

const cellsOf = (terms: SharedTerms) => ({
  expires_at: terms.expiresAt,
  token_group: terms.group,
  models: terms.models,
  allow_ips: terms.allowIps,
  rate_limit: terms.rateLimit,
  tokens_per_minute: terms.tokensPerMinute,
  max_concurrency: terms.maxConcurrency,
})
