import type { FastifyRequest } from 'fastify'
import { optionFlag } from '#domain/options/registry.ts'
import { principalNow } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { type Language, languageOf } from '#infra/http/language.ts'
import { type Mail, MailFailed } from '#infra/mail/port.ts'
import { allOptions } from '#projections/options/query.ts'
import { AskCode } from '#write-api/contract/entry.ts'
import type { Action, Deps } from '../action.ts'
import { loginError } from '../session/login-errors.ts'
import { findMailOwner } from '../users/bind-identity.ts'
import { refuseUnlessOpen } from '../users/register.ts'
import { checkMailDomain, mailAddressOf } from './mail-address.ts'
import {
  askingBrowser,
  CODE_MINUTES,
  type CodePurpose,
  makeMailCode,
  mayMail,
} from './mail-codes.ts'
import { mailError } from './mail-errors.ts'
import { codeMail, takenMail } from './mail-words.ts'
import { siteNameOf } from './site-mailer.ts'

/**
 * GET /api/verification: mails a code to an address. The answer is the same for an address that
 * has an account already: that one gets a mail that says so.
 */
export const sendCode: Action = (api, deps) => {
  api.get(
    '/api/verification',
    {
      schema: {
        summary: 'Mail a code that proves an address',
        querystring: AskCode,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const { email, turnstile = '', purpose: wanted } = request.query
      const { values } = await allOptions(deps.core.db)
      const purpose = await purposeOf(request, wanted)
      if (purpose === 'register') await mayRegister(deps, values)
      const address = mailAddressOf(email)
      // Of whom one may become; where somebody reads mail is their own affair.
      if (wanted !== 'notify') checkMailDomain(values, address)
      await deps.humanCheck.pass(request, 'verification', turnstile)
      const room = await mayMail(deps.core, 'code', address, request.ip)
      const told = { site: siteNameOf(values), language: languageOf(request) }
      try {
        await mailCode(deps, purpose, { address, browser: askingBrowser(request, reply), ...told })
      } catch (error) {
        room.release({ isRefunded: true })
        throw error
      }
      room.release({ isRefunded: false })
      return done()
    },
  )
}

/** A code that no registration would take is none to send. */
async function mayRegister({ core }: Deps, values: ReadonlyMap<string, string>): Promise<void> {
  await refuseUnlessOpen(core.db, values)
  if (!optionFlag(values, 'PasswordRegisterEnabled')) throw loginError('PasswordRegistrationClosed')
  if (!optionFlag(values, 'EmailVerificationEnabled')) throw loginError('MailVerificationOff')
}

type Wanted = 'register' | 'bind' | 'notify' | undefined

/** Whoever has a session binds an address; everybody else registers, unless they say it. */
async function purposeOf(request: FastifyRequest, wanted: Wanted): Promise<CodePurpose> {
  if (wanted === 'register') return 'register'
  const principal = await principalNow(request)
  if (principal !== null && request.headers['user-id'] === String(principal.userId)) {
    return wanted === 'notify' ? `notify:${principal.userId}` : `bind:${principal.userId}`
  }
  if (wanted !== undefined) throw httpError('NotLoggedIn')
  return 'register'
}

type To = {
  readonly address: string
  readonly browser: string | null
  readonly site: string
  readonly language: Language
}

async function mailCode(
  deps: Deps,
  purpose: CodePurpose,
  { address, browser, site, language }: To,
): Promise<void> {
  const owner = await findMailOwner(deps.core, address)
  const code = await makeMailCode(deps.core, purpose, address, browser)
  // To be told things at: whoever reads the code may, whosever account else it is.
  const mayShare = purpose.startsWith('notify:')
  const isTaken = owner !== null && purpose !== `bind:${owner.id}` && !mayShare
  const words = isTaken ? takenMail(language, site) : codeMail(language, site, code, CODE_MINUTES)
  await sendToVisitor(deps, { to: address, ...words })
}

/** Sends, or throws an error that tells a visitor no more than whether mails work at all. */
async function sendToVisitor(
  { core, mailer }: Pick<Deps, 'core' | 'mailer'>,
  mail: Mail,
): Promise<void> {
  try {
    await mailer.send(mail)
  } catch (error) {
    if (!(error instanceof MailFailed)) throw error
    // NOTE: not the error itself: a mail server's answer names the address.
    core.log.warn({ fault: error.fault }, 'a mail could not be sent')
    throw mailError(error.fault === 'not-set-up' ? 'MailNotSetUp' : 'MailNotSent')
  }
}
