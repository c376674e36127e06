import { type Mail, MailFailed } from '#infra/mail/port.ts'
import type { Parts } from '../act.ts'
import { refused } from '../refusals.ts'

/** Sends, or throws a refusal that tells a visitor no more than whether mails work at all. */
export async function sendToVisitor(
  { core, mailer }: Pick<Parts, 'core' | 'mailer'>,
  mail: Mail,
): Promise<void> {
  try {
    await mailer.send(mail)
  } catch (error) {
    if (!(error instanceof MailFailed)) throw error
    // NOTE: not the error itself: a mail server's answer names the address.
    core.log.warn({ fault: error.fault }, 'a mail could not be sent')
    throw refused(error.fault === 'not-set-up' ? 'MailNotSetUp' : 'MailNotSent')
  }
}
