/** One mail to one mailbox. `to` is a bare address, checked by whoever asks. */
export type Mail = {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
}

/** Sends what the site has to say. A mail is asked for once: nothing is kept or tried again. */
export interface Mailer {
  /** Resolves once the mail server took it, within `MAIL_MS_MAX`; rejects with `MailFailed`. */
  send(mail: Mail): Promise<void>
}

export type MailErrorCode =
  /** No server, or no sender. */
  | 'not-set-up'
  /** The server's address may not be used. */
  | 'not-allowed'
  | 'unreachable'
  | 'timed-out'
  /** No TLS where the password needs it, or a certificate that is not to be believed. */
  | 'not-safe'
  | 'login-refused'
  /** The server does not take this mail: its sender, its recipient or what it says. */
  | 'mail-refused'
  /** Too many mails are under way. */
  | 'busy'

export class MailFailed extends Error {
  readonly fault: MailErrorCode
  constructor(fault: MailErrorCode, options?: ErrorOptions) {
    super(`the mail was not sent: ${fault}`, options)
    this.name = 'MailFailed'
    this.fault = fault
  }
}

/** The longest that a mail can keep somebody waiting. */
export const MAIL_MS_MAX = 15_000
