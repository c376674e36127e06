/** One mail to one mailbox. `to` is a bare address that the caller has validated. */
export type Mail = {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
}

/** Sends the site's mails. A mail is sent once: nothing is queued or retried. */
export interface Mailer {
  /**
   * Resolves once the mail server accepted the mail, within `MAIL_MS_MAX`; rejects with
   * `MailFailed`.
   */
  send(mail: Mail): Promise<void>
}

export type MailErrorCode =
  /** No server or no sender is configured. */
  | 'not-set-up'
  /** The outbound policy forbids the server's address. */
  | 'not-allowed'
  | 'unreachable'
  | 'timed-out'
  /** TLS is missing where the password needs it, or the certificate is not trusted. */
  | 'not-safe'
  | 'login-refused'
  /** The server rejects this mail: its sender, its recipient or its content. */
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

/** The longest time that a mail can keep a caller waiting. */
export const MAIL_MS_MAX = 15_000
