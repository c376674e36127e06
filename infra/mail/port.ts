/**
 * A mail to one mailbox. `to` is an address without a display name, which the caller has validated.
 */
export type Mail = {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
}

/** Sends the site's mails. A mail is sent once; there is no queue and no retry. */
export interface Mailer {
  /**
   * Resolves when the mail server has accepted the mail, within `MAIL_MS_MAX`. Otherwise rejects
   * with `MailFailed`.
   */
  send(mail: Mail): Promise<void>
}

export type MailErrorCode =
  /** The configuration has no mail server or no sender. */
  | 'not-set-up'
  /** The outbound policy forbids the address of the mail server. */
  | 'not-allowed'
  | 'unreachable'
  | 'timed-out'
  /**
   * The server offers no TLS although a password would be sent, or its certificate is not trusted.
   */
  | 'not-safe'
  | 'login-refused'
  /** The server rejects this mail because of its sender, recipient or content. */
  | 'mail-refused'
  /** Too many mails are being sent at the same time. */
  | 'busy'

export class MailFailed extends Error {
  readonly code: MailErrorCode
  constructor(code: MailErrorCode, options?: ErrorOptions) {
    super(`the mail was not sent: ${code}`, options)
    this.name = 'MailFailed'
    this.code = code
  }
}

/** The longest time that sending a mail may take, in milliseconds. */
export const MAIL_MS_MAX = 15_000
