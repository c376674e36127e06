import { onlyRoot } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { languageOf } from '#infra/http/language.ts'
import { MailFailed } from '#infra/mail/port.ts'
import { allOptions } from '#projections/options/query.ts'
import { TestMail } from '#write-api/contract/options.ts'
import type { Action } from '../action.ts'
import { mailAddressOf } from './mail-address.ts'
import { mailError } from './mail-errors.ts'
import { testMail } from './mail-templates.ts'
import { siteNameOf } from './site-mailer.ts'

/**
 * POST /api/option/test_mail: sends a mail with the saved settings and reports what is wrong with
 * them.
 */
export const sendTestMail: Action = (api, { core, mailer }) => {
  api.post(
    '/api/option/test_mail',
    {
      onRequest: onlyRoot,
      schema: {
        summary: 'Send a test mail with the saved SMTP options',
        body: TestMail,
        response: { 200: Done },
      },
    },
    async (request) => {
      const to = mailAddressOf(request.body.to)
      const { values } = await allOptions(core.db)
      try {
        await mailer.send({ to, ...testMail(languageOf(request), siteNameOf(values)) })
      } catch (error) {
        if (error instanceof MailFailed) throw mailError('TestMailFailed', { fault: error.code })
        throw error
      }
      return done()
    },
  )
}
