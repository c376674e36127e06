import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CredentialsEvent } from '#domain/credentials/events.ts'
import { projectionOf } from '../projection.ts'
import type { RowChanges } from '../runner/row-changes.ts'
import { secondsOf } from '../unix-seconds.ts'

const NO_TOKEN = {
  token_hash: null,
  token_auth_version: null,
  token_issued_at: null,
  token_expires_at: null,
} as const

/** Credentials other than passwords: hashes, names and times, but never keys or codes. */
export const credentials = projectionOf<CredentialsEvent>({
  name: 'credentials',
  version: 1,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { credentials: { key: ['user_id'] }, passkeys: { key: ['user_id', 'passkey_id'] } },
  handlers: {
    AccessTokenIssued: ({ data, meta }, rows) =>
      rows.put('credentials', keyOf(data), {
        token_hash: data.tokenHash,
        token_auth_version: data.authVersion,
        token_issued_at: secondsOf(meta.at),
        token_expires_at: data.expiresAt,
      }),
    AccessTokenRevoked: ({ data }, rows) => rows.put('credentials', keyOf(data), NO_TOKEN),
    TotpEnabled: ({ data, meta }, rows) =>
      rows.put('credentials', keyOf(data), { totp_since: secondsOf(meta.at) }),
    TotpDisabled: ({ data }, rows) => rows.put('credentials', keyOf(data), { totp_since: null }),
    RecoveryCodesReplaced: ({ data }, rows) =>
      rows.put('credentials', keyOf(data), { recovery_codes: data.codeHashes.length }),
    RecoveryCodeUsed: ({ data }, rows) =>
      rows.add('credentials', keyOf(data), { recovery_codes: -1n }),
    PasskeyAdded: async ({ data, meta }, rows, { open }) =>
      rows.insert('passkeys', passkeyOf(data), {
        name: await open(data.userId, data.name),
        created_at: secondsOf(meta.at),
      }),
    PasskeyRenamed: async ({ data }, rows, { open }) => {
      rows.patch('passkeys', passkeyOf(data), { name: await open(data.userId, data.name) })
    },
    PasskeyUsed: ({ data, meta }, rows) =>
      rows.patch('passkeys', passkeyOf(data), { used_at: secondsOf(meta.at) }),
    PasskeyRemoved: ({ data }, rows) => rows.remove('passkeys', passkeyOf(data)),
    SecondFactorReset: ({ data }, rows) => withoutFactors(data, {}, rows),
    CredentialsForgotten: ({ data }, rows) => withoutFactors(data, NO_TOKEN, rows),
  },
})

type RemovedPasskeys = { readonly userId: number; readonly passkeyIds: readonly number[] }

function withoutFactors(
  { userId, passkeyIds }: RemovedPasskeys,
  token: typeof NO_TOKEN | Readonly<Record<string, never>>,
  rows: RowChanges,
): void {
  rows.put('credentials', { user_id: userId }, { ...token, totp_since: null, recovery_codes: 0 })
  for (const passkeyId of passkeyIds) rows.remove('passkeys', passkeyOf({ userId, passkeyId }))
}

const keyOf = ({ userId }: { readonly userId: number }) => ({ user_id: userId })

const passkeyOf = ({ userId, passkeyId }: { userId: number; passkeyId: number }) => ({
  user_id: userId,
  passkey_id: passkeyId,
})
