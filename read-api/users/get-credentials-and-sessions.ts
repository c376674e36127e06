import { onlySession, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import type { Principal } from '#infra/http/principal.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type CredentialsRow, credentialsOf, passkeysOf } from '#projections/credentials/query.ts'
import { type CredentialsOverview, credentialQueries } from '../contract/credentials.ts'
import { type App, type ReadDeps, upToDate } from '../read-dependencies-and-query-parameters.ts'

/**
 * `GET /api/user/security`: the caller's access token, authenticator app, recovery codes and
 * passkeys, without the secrets.
 */
export function getCredentials(app: App, deps: ReadDeps): void {
  const { core } = deps
  app.route({
    ...endpoint(credentialQueries, 'GET /api/user/security'),
    onRequest: onlySession,
    preHandler: upToDate(deps, 'credentials'),
    handler: async (request) => {
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
  })
}

/**
 * Returns the times at which the access token was issued and expires. Returns null if the user has
 * no valid access token.
 */
function tokenOf(
  { tokenIssuedAt, tokenExpiresAt, tokenAuthVersion }: CredentialsRow,
  { authVersion }: Principal,
  now: number,
): CredentialsOverview['access_token'] {
  if (tokenIssuedAt === null || tokenExpiresAt === null) return null
  if (tokenAuthVersion !== authVersion || tokenExpiresAt * 1_000 <= now) return null
  return { issued_at: tokenIssuedAt, expires_at: tokenExpiresAt }
}

/** `GET /api/user/sessions`: the caller's sessions, most recently used first. */
export function listSessions(app: App): void {
  app.route({
    ...endpoint(credentialQueries, 'GET /api/user/sessions'),
    onRequest: onlySession,
    handler: async (request) => {
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
  })
}
