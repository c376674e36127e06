import Type from 'typebox'
import { onlySession, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import type { Principal } from '#infra/http/principal.ts'
import { type CredentialsRow, credentialsOf, passkeysOf } from '#projections/credentials/query.ts'
import { OwnSession, Security } from '../contract/credentials.ts'
import { Envelope } from '../contract/envelope.ts'
import { type App, type ReadDeps, upToDate } from '../question.ts'

/** `GET /api/user/security`: the own access token, second factors and passkeys; never a secret. */
export function getSecurity(app: App, deps: ReadDeps): void {
  const { core } = deps
  app.get(
    '/api/user/security',
    {
      schema: { response: { 200: Envelope(Security) } },
      onRequest: onlySession,
      preHandler: upToDate(deps, 'credentials'),
    },
    async (request) => {
      const principal = principalOf(request)
      const [row, passkeys] = await Promise.all([
        credentialsOf(core.db, principal.userId),
        passkeysOf(core.db, principal.userId),
      ])
      return success({
        access_token: row === null ? null : tokenOf(row, principal, core.now()),
        totp_since: row?.totpSince ?? null,
        recovery_codes: row?.recoveryCodes ?? 0,
        passkeys: passkeys.map(({ id, name, createdAt, usedAt }) => ({
          id,
          name,
          created_at: createdAt,
          used_at: usedAt,
        })),
      })
    },
  )
}

/** null once it lets nobody in any more. */
function tokenOf(
  { tokenIssuedAt, tokenExpiresAt, tokenAuthVersion }: CredentialsRow,
  { authVersion }: Principal,
  now: number,
): Security['access_token'] {
  if (tokenIssuedAt === null || tokenExpiresAt === null) return null
  if (tokenAuthVersion !== authVersion || tokenExpiresAt * 1_000 <= now) return null
  return { issued_at: tokenIssuedAt, expires_at: tokenExpiresAt }
}

/** `GET /api/user/sessions`: one's own sessions, the one last seen first. */
export function listSessions(app: App): void {
  app.get(
    '/api/user/sessions',
    {
      schema: { response: { 200: Envelope(Type.Array(OwnSession)) } },
      onRequest: onlySession,
    },
    async (request) => {
      const { userId, authVersion, sessionHash } = principalOf(request)
      const sessions = await request.server.gate.sessions.listOf(userId, authVersion)
      return success(
        sessions.map(({ id, hash, ip, userAgent, startedAt, seenAt }) => ({
          id,
          ip,
          user_agent: userAgent,
          started_at: Math.floor(startedAt / 1_000),
          seen_at: Math.floor(seenAt / 1_000),
          is_current: hash === sessionHash,
        })),
      )
    },
  )
}
