import { createHash, randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { optionValue } from '#domain/options/option-registry.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { type Language, languageOf } from '#infra/http/request-language.ts'
import { done } from '#infra/http/response-envelope.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Action, Deps } from '../action.ts'
import { registrationActions } from '../contract/registration-password-reset-and-setup.ts'
import { mailAddressOf } from '../mail/mail-address.ts'
import { acquireMailPermit } from '../mail/mail-codes.ts'
import { mailError } from '../mail/mail-errors.ts'
import { resetMail } from '../mail/mail-templates.ts'
import { siteNameOf } from '../mail/site-mailer-and-test-mail.ts'
import { findMailOwner } from '../users/bind-and-unbind-identities.ts'
import { loginError } from './login-and-registration-errors.ts'

const RESET_MINUTES = 15
const KIND = 'password-reset'

/** The data of a reset link. If the user's `authVersion` changes, the link becomes invalid. */
export type ResetLink = { readonly userId: number; readonly authVersion: number }

type Links = Pick<Core, 'shortLived'>

/**
 * Creates a reset link and returns its token. The link's data is stored under a hash of the email
 * address and the token. The token itself is not stored.
 */
async function issueResetLink(
  { shortLived }: Links,
  address: string,
  link: ResetLink,
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const ttlMs = RESET_MINUTES * 60_000
  await shortLived.put(KIND, keyOf(address, token), JSON.stringify(link), ttlMs)
  return token
}

/**
 * Throws if links cannot be stored. Called before the user is looked up, so that the error does not
 * reveal whether the user exists.
 */
const assertLinkStoreAvailable = async ({ shortLived }: Links): Promise<void> =>
  void (await shortLived.peek(KIND, 'any'))

/** Reports whether a token is valid. The token is not consumed. */
export const isResetLinkValid = async (
  { shortLived }: Links,
  address: string,
  token: string,
): Promise<boolean> => (await shortLived.peek(KIND, keyOf(address, token))) !== null

/**
 * Consumes a token and returns its data, or null if the token is invalid. If several calls use the
 * token at once, only one of them receives the data.
 */
export async function consumeResetLink(
  { shortLived }: Links,
  address: string,
  token: string,
): Promise<ResetLink | null> {
  const text = await shortLived.take(KIND, keyOf(address, token))
  return text === null ? null : (JSON.parse(text) as ResetLink)
}

const keyOf = (address: string, token: string): string =>
  createHash('sha256').update(`${address}\n${token}`).digest('hex')

/**
 * GET /api/reset_password: mails a reset link. The response does not wait until the address is
 * looked up. Neither the response nor its timing reveals whether the address belongs to a user.
 */
export const requestReset: Action = (api, deps) => {
  const pending = new Set<Promise<void>>()
  api.addHook('onClose', async () => void (await Promise.all(pending)))
  api.route({
    ...endpoint(registrationActions, 'GET /api/reset_password'),
    handler: async (request) => {
      const { email, turnstile = '' } = request.query
      const address = mailAddressOf(email)
      const { values } = await allOptions(deps.core.db)
      if (optionValue(values, 'SMTPServer') === '') throw mailError('MailNotSetUp')
      const origin = originOf(deps, values, request)
      await assertLinkStoreAvailable(deps.core)
      await deps.humanCheck.pass(request, 'reset', turnstile)
      const permit = await acquireMailPermit(deps.core, 'reset', address, request.ip)
      permit.release({ isRefunded: false })
      const site = siteNameOf(values)
      const work = mailLink(deps, { address, origin, site, language: languageOf(request) })
        .catch((error: unknown) => {
          const { message } = error as Error
          deps.core.log.warn({ reason: message }, 'mailing a reset link failed')
        })
        .finally(() => pending.delete(work))
      pending.add(work)
      return done()
    },
  })
}

type ResetMailTarget = {
  readonly address: string
  readonly origin: string
  readonly site: string
  readonly language: Language
}

async function mailLink(
  deps: Deps,
  { address, origin, site, language }: ResetMailTarget,
): Promise<void> {
  const owner = await findMailOwner(deps.core, address)
  if (owner === null) return
  const { id: userId, authVersion } = owner
  const token = await issueResetLink(deps.core, address, { userId, authVersion })
  const query = new URLSearchParams({ email: address, token })
  const url = `${origin}/user/reset?${query}`
  await deps.mailer.send({ to: address, ...resetMail(language, site, url, RESET_MINUTES) })
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']

/**
 * Returns the origin for the reset link. NOTE: the `Host` header is only used if it is a local name
 * of this machine. With any other name, an attacker who requests a link for another user could
 * choose the host that receives the token.
 */
function originOf(
  { core }: Deps,
  values: ReadonlyMap<string, string>,
  request: FastifyRequest,
): string {
  const address = optionValue(values, 'ServerAddress')
  if (URL.canParse(address)) return address.replace(/\/+$/, '')
  const requestOrigin = `${request.protocol}://${request.host}`
  // The URL is parsed as browsers parse it. The host of `localhost:x@evil.example` is not local.
  const url = core.config.isLoopback && URL.canParse(requestOrigin) ? new URL(requestOrigin) : null
  const isLocal = url !== null && LOOPBACK_NAMES.includes(url.hostname)
  if (!isLocal || url.username !== '' || url.password !== '') {
    throw loginError('ServerAddressRequired')
  }
  return url.origin
}
