import { createHash, randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { optionValue } from '#domain/options/registry.ts'
import type { Core } from '#infra/core.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { type Language, languageOf } from '#infra/http/language.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Action, Deps } from '../action.ts'
import { AskReset } from '../contract/entry.ts'
import { mailAddressOf } from '../mail/mail-address.ts'
import { mayMail } from '../mail/mail-codes.ts'
import { mailError } from '../mail/mail-errors.ts'
import { resetMail } from '../mail/mail-words.ts'
import { siteNameOf } from '../mail/site-mailer.ts'
import { findMailOwner } from '../users/bind-identity.ts'
import { loginError } from './login-errors.ts'

const RESET_MINUTES = 15
const KIND = 'password-reset'

/** Whose password the link resets, as long as it is the one from when the link was made. */
export type ResetLink = { readonly userId: number; readonly authVersion: number }

type Links = Pick<Core, 'shortLived'>

/** The token of a new link; kept as a hash alone, with the address that it was mailed to. */
async function makeResetLink(
  { shortLived }: Links,
  address: string,
  link: ResetLink,
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const ttlMs = RESET_MINUTES * 60_000
  await shortLived.put(KIND, keyOf(address, token), JSON.stringify(link), ttlMs)
  return token
}

/** Throws where no link could be kept: asked before it is known whether there is to be one. */
const requireResetLinks = async ({ shortLived }: Links): Promise<void> =>
  void (await shortLived.peek(KIND, 'any'))

/** Whether the token is a good one's, without using it up. */
export const isResetLink = async (
  { shortLived }: Links,
  address: string,
  token: string,
): Promise<boolean> => (await shortLived.peek(KIND, keyOf(address, token))) !== null

/** What the token stands for, to one asker alone; null for any but a good one. */
export async function takeResetLink(
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
 * GET /api/reset_password: mails a link to the owner of an address. Answers before it looks whether
 * there is one, so that neither the answer nor its time tells.
 */
export const requestReset: Action = (api, deps) => {
  const underWay = new Set<Promise<void>>()
  api.addHook('onClose', async () => void (await Promise.all(underWay)))
  api.get(
    '/api/reset_password',
    {
      schema: {
        summary: 'Mail a link that resets a forgotten password',
        querystring: AskReset,
        response: { 200: Done },
      },
    },
    async (request) => {
      const { email, turnstile = '' } = request.query
      const address = mailAddressOf(email)
      const { values } = await allOptions(deps.core.db)
      if (optionValue(values, 'SMTPServer') === '') throw mailError('MailNotSetUp')
      const origin = originOf(deps, values, request)
      await requireResetLinks(deps.core)
      await deps.humanCheck.pass(request, 'reset', turnstile)
      const room = await mayMail(deps.core, 'reset', address, request.ip)
      room.release({ isRefunded: false })
      const site = siteNameOf(values)
      const work = mailLink(deps, { address, origin, site, language: languageOf(request) })
        .catch((error: unknown) => {
          const { message } = error as Error
          deps.core.log.warn({ reason: message }, 'a reset link could not be mailed')
        })
        .finally(() => underWay.delete(work))
      underWay.add(work)
      return done()
    },
  )
}

type To = {
  readonly address: string
  readonly origin: string
  readonly site: string
  readonly language: Language
}

async function mailLink(deps: Deps, { address, origin, site, language }: To): Promise<void> {
  const owner = await findMailOwner(deps.core, address)
  if (owner === null) return
  const { id: userId, authVersion } = owner
  const token = await makeResetLink(deps.core, address, { userId, authVersion })
  const query = new URLSearchParams({ email: address, token })
  const url = `${origin}/user/reset?${query}`
  await deps.mailer.send({ to: address, ...resetMail(language, site, url, RESET_MINUTES) })
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']

/**
 * Where the link leads. NOTE: never to the name that a caller put into `Host`: whoever asks for
 * somebody else's link would choose where its token goes. Only this machine's own names are safe.
 */
function originOf(
  { core }: Deps,
  values: ReadonlyMap<string, string>,
  request: FastifyRequest,
): string {
  const address = optionValue(values, 'ServerAddress')
  if (URL.canParse(address)) return address.replace(/\/+$/, '')
  const asked = `${request.protocol}://${request.host}`
  // Judged and linked to as a browser reads it: `localhost:x@evil.example` is no name of ours.
  const url = core.config.isLoopback && URL.canParse(asked) ? new URL(asked) : null
  const isHere = url !== null && LOOPBACK_NAMES.includes(url.hostname)
  if (!isHere || url.username !== '' || url.password !== '') {
    throw loginError('ServerAddressRequired')
  }
  return url.origin
}
