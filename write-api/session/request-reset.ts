import type { FastifyRequest } from 'fastify'
import { optionValue } from '#domain/options/registry.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { type Language, languageOf } from '#infra/http/language.ts'
import { allOptions } from '#projections/options/query.ts'
import { AskReset } from '#write-api/contract/entry.ts'
import type { Act, Deps } from '../act.ts'
import { mailAddressOf } from '../mail/mail-address.ts'
import { mayMail } from '../mail/mail-limits.ts'
import { resetMail } from '../mail/mail-words.ts'
import { siteNameOf } from '../mail/site-mailer.ts'
import { refused } from '../refusals.ts'
import { findMailOwner } from '../users/mail-identity.ts'
import { makeResetLink, RESET_MINUTES, requireResetLinks } from './reset-links.ts'

/**
 * GET /api/reset_password: mails a link to the owner of an address. Answers before it looks whether
 * there is one, so that neither the answer nor its time tells.
 */
export const requestReset: Act = (api, deps) => {
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
      if (optionValue(values, 'SMTPServer') === '') throw refused('MailNotSetUp')
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
    throw refused('ServerAddressRequired')
  }
  return url.origin
}
