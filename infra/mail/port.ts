/** `to` is an address without a display name, which the caller has validated. */
export type Mail = {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
}

/** Sends each mail once; there is no queue and no retry. */
export interface Mailer {
  /**
   * Resolves when the mail server has accepted the mail. Rejects with `MailFailed` if it has not.
   */
  send(mail: Mail): Promise<void>
}

export type MailErrorCode =
  /** The configuration lacks the mail server or the sender. */
  | 'not-set-up'
  | 'not-allowed'
  | 'unreachable'
  | 'timed-out'
  /** The server's certificate is not trusted, or a password would be sent without TLS. */
  | 'not-safe'
  | 'login-refused'
  /** The server rejects this mail because of its sender, recipient or content. */
  | 'mail-refused'
  | 'busy'

export class MailFailed extends Error {
  readonly code: MailErrorCode
  constructor(code: MailErrorCode, options?: ErrorOptions) {
    super(`the mail was not sent: ${code}`, options)
    this.name = 'MailFailed'
    this.code = code
  }
}

export const MAIL_MS_MAX = 15_000
