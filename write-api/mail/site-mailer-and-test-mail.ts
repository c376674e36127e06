import { optionFlag, optionInteger, optionValue } from '#domain/options/option-registry.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { onlyRoot } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { languageOf } from '#infra/http/request-language.ts'
import { done } from '#infra/http/response-envelope.ts'
import { type Mailer, MailFailed } from '#infra/mail/port.ts'
import { createSmtpMailer, type MailSettings } from '#infra/mail/smtp-mailer.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Action } from '../action.ts'
import { optionActions } from '../contract/options.ts'
import { readSecretOption } from '../options/secret-option-in-vault.ts'
import { mailAddressOf } from './mail-address.ts'
import { mailError } from './mail-errors.ts'
import { testMail } from './mail-templates.ts'

/** Creates the site's mailer, which reads the current SMTP options for each mail. */
export const createSiteMailer = (core: Core): Mailer =>
  createSmtpMailer(() => readSettings(core), operatorPolicy(core.config))

async function readSettings(core: Core): Promise<MailSettings> {
  const { values, secretRefs } = await allOptions(core.db)
  const account = optionValue(values, 'SMTPAccount')
  return {
    host: optionValue(values, 'SMTPServer').trim(),
    port: optionInteger(values, 'SMTPPort'),
    isTls: optionFlag(values, 'SMTPSSLEnabled'),
    account,
    password: await readSecretOption(core, secretRefs, 'SMTPToken'),
    from: senderOf(optionValue(values, 'SMTPFrom') || account, siteNameOf(values)),
  }
}

export const siteNameOf = (values: ReadonlyMap<string, string>): string =>
  optionValue(values, 'SystemName') || 'Tallygate'

/**
 * Parses `Name <address>` or a plain address as the sender. For any other text, the returned
 * address is empty, which means that there is no sender.
 */
function senderOf(text: string, siteName: string): MailSettings['from'] {
  const named = /^([^<>@]*)<([^\s<>@]+@[^\s<>@]+)>$/u.exec(text.trim())
  if (named !== null) return { name: named[1]?.trim() || siteName, address: named[2] ?? '' }
  const isAddress = /^[^\s<>@]+@[^\s<>@]+$/u.test(text.trim())
  return { name: siteName, address: isAddress ? text.trim() : '' }
}

/**
 * POST /api/option/test_mail: sends a test mail with the saved settings. If the sending fails, the
 * response contains the detailed error.
 */
export const sendTestMail: Action = (api, { core, mailer }) => {
  api.route({
    ...endpoint(optionActions, 'POST /api/option/test_mail'),
    onRequest: onlyRoot,
    handler: async (request) => {
      const to = mailAddressOf(request.body.to)
      const { values } = await allOptions(core.db)
      try {
        await mailer.send({ to, ...testMail(languageOf(request), siteNameOf(values)) })
      } catch (error) {
        if (error instanceof MailFailed) throw mailError('TestMailFailed', { error: error.code })
        throw error
      }
      return done()
    },
  })
}
