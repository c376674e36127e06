import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TokenEvent, TokenTerms } from '#domain/token/events.ts'
import { projectionOf } from '../projection.ts'
import { secondsOf } from '../seconds.ts'

/** The access tokens: references of their keys, never keys. Budgets are with the balances. */
export const tokens = projectionOf<TokenEvent>({
  name: 'tokens',
  version: 1,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { tokens: { key: ['id'] } },
  handlers: {
    TokenCreated: ({ data, meta }, rows) =>
      rows.insert(
        'tokens',
        { id: data.tokenId },
        {
          user_id: data.userId,
          ...cellsOf(data.terms),
          key_lookup: data.keyLookup,
          key_ref: data.keyRef,
          key_hint: data.keyHint,
          created_at: secondsOf(meta.at),
        },
      ),
    TokenTermsChanged: ({ data }, rows) =>
      rows.patch('tokens', { id: data.tokenId }, cellsOf(data.terms)),
    TokenEnabled: ({ data }, rows) => rows.patch('tokens', { id: data.tokenId }, { status: 1 }),
    TokenDisabled: ({ data }, rows) => rows.patch('tokens', { id: data.tokenId }, { status: 2 }),
    TokenDeleted: ({ data }, rows) =>
      rows.patch('tokens', { id: data.tokenId }, { is_deleted: true }),
  },
})

const cellsOf = (terms: TokenTerms) => ({
  name: terms.name,
  expires_at: terms.expiresAt,
  token_group: terms.group,
  models: terms.models,
  allow_ips: terms.allowIps,
  rate_limit: terms.rateLimit,
})
