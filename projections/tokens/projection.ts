import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Recorded } from '#domain/shared/event.ts'
import {
  type SharedTerms,
  TOKEN_VERSIONS,
  type TokenEvent,
  type TokenName,
  type TokensDeleted,
  type TokensDisabled,
  type TokensEnabled,
  upcastToken,
} from '#domain/tokens/events.ts'
import type { UserErased } from '#domain/users/events.ts'
import { TOKEN_TERMS } from '#read-api/contract/token-fields.ts'
import { type FoldContext, projectionOf } from '../projection.ts'
import { cellsOfFields } from '../resource-field-columns.ts'
import type { Cells, RowChanges } from '../runner/row-changes.ts'
import { secondsOf } from '../unix-seconds.ts'
import { TOKEN_COLUMNS } from './query.ts'

/**
 * The tokens of all users. Names are decrypted, so that users can search for them. Keys are vault
 * references. Budgets are in the `balances` projection.
 */
export const tokens = projectionOf<TokenEvent | UserErased>({
  name: 'tokens',
  version: 3,
  newest: TOKEN_VERSIONS,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { tokens: { key: ['id'] } },
  handlers: {
    TokensCreated: async (event, rows, { open }) => {
      const { data, meta, position } = upcastToken(event)
      const shared = {
        user_id: data.userId,
        ...cellsOf(data.terms),
        created_at: secondsOf(meta.at),
        changed_position: position,
      }
      for (const { tokenId, name: storedName, keyLookup, keyRef, keyHint } of data.tokens) {
        const name = await textOf(data.userId, storedName, open)
        const key = { key_lookup: keyLookup, key_ref: keyRef, key_hint: keyHint }
        rows.insert('tokens', { id: tokenId }, { ...shared, name, ...key })
      }
    },
    TokenTermsChanged: async (event, rows, { open }) => {
      const { data, position } = upcastToken(event)
      const { userId, tokenId, terms } = data
      const name = await textOf(userId, terms.name, open)
      const cells = { name, ...cellsOf(terms), changed_position: position }
      rows.patch('tokens', { id: tokenId }, cells)
    },
    TokensEnabled: (event, rows) => patchAll(event, rows, { status: 1 }),
    TokensDisabled: (event, rows) => patchAll(event, rows, { status: 2 }),
    TokensDeleted: (event, rows) => patchAll(event, rows, { is_deleted: true }),
    // The names of deleted tokens are cleared, too, because a rebuild cannot decrypt them after the
    // user's data key is destroyed.
    UserErased: ({ data }, rows) =>
      rows.patchWhere('tokens', { user_id: data.userId }, { name: '' }),
  },
})

const textOf = async (userId: number, name: TokenName, open: FoldContext['open']) =>
  typeof name === 'string' ? await open(userId, name) : name.plain

type OfSeveral = Recorded<TokensEnabled | TokensDisabled | TokensDeleted>

function patchAll({ data, position }: OfSeveral, rows: RowChanges, cells: Cells): void {
  for (const id of data.tokenIds) {
    rows.patch('tokens', { id }, { ...cells, changed_position: position })
  }
}

const cellsOf = (terms: SharedTerms) => ({
  expires_at: terms.expiresAt,
  models: terms.models,
  rate_limit: terms.rateLimit,
  ...cellsOfFields(TOKEN_TERMS, terms, TOKEN_COLUMNS),
})
