import type { AccountErrorCode } from '#domain/accounts/commands.ts'
import type { AuditJobErrorCode } from '#domain/audit/decide-audit-jobs.ts'
import type { ChannelErrorCode } from '#domain/channels/commands.ts'
import type { CorrectionErrorCode } from '#domain/corrections/decide.ts'
import type { CredentialsErrorCode } from '#domain/credentials/decide.ts'
import type { IdentityErrorCode } from '#domain/identities/decide.ts'
import type { MessageErrorCode } from '#domain/messages/decide.ts'
import type { OptionsErrorCode } from '#domain/options/commands.ts'
import type { ProviderInvoiceErrorCode } from '#domain/provider-invoices/decide.ts'
import type { RedemptionErrorCode } from '#domain/redemptions/decide.ts'
import type { SiteErrorCode } from '#domain/setup/decide.ts'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { TokenErrorCode } from '#domain/tokens/decide.ts'
import type { TopUpErrorCode } from '#domain/top-ups/commands.ts'
import type { UserErrorCode, UsernameErrorCode } from '#domain/users/commands.ts'
import {
  type ErrorCatalogue,
  errorsOf,
  type HttpError,
} from '#infra/http/http-error-class-and-catalogue.ts'
import {
  AUDIT_JOB_ERRORS,
  CORRECTION_ERRORS,
  PROVIDER_INVOICE_ERRORS,
} from './audit/audit-errors.ts'
import { CHANNEL_ERRORS } from './channels/channel-errors.ts'
import { CREDENTIALS_ERRORS } from './credentials/credentials-errors.ts'
import { MESSAGE_ERRORS } from './messages/message-errors.ts'
import { OPTION_ERRORS } from './options/option-errors.ts'
import { REDEMPTION_ERRORS } from './redemptions/redemption-errors.ts'
import { SETUP_ERRORS } from './setup/setup-errors.ts'
import { TOKEN_ERRORS } from './tokens/token-errors.ts'
import { TOP_UP_ERRORS } from './top-ups/top-up-errors.ts'
import { ACCOUNT_ERRORS } from './users/account-errors.ts'
import { USER_ERRORS } from './users/user-errors.ts'

export type DomainErrorCode =
  | AccountErrorCode
  | AuditJobErrorCode
  | ChannelErrorCode
  | CorrectionErrorCode
  | CredentialsErrorCode
  | IdentityErrorCode
  | ProviderInvoiceErrorCode
  | MessageErrorCode
  | OptionsErrorCode
  | RedemptionErrorCode
  | SiteErrorCode
  | TokenErrorCode
  | TopUpErrorCode
  | UserErrorCode
  | UsernameErrorCode

/**
 * The HTTP status and message of each error of the domain. The type ensures that every error code
 * has an entry.
 */
const DOMAIN_ERRORS: ErrorCatalogue<DomainErrorCode> = {
  ...ACCOUNT_ERRORS,
  ...AUDIT_JOB_ERRORS,
  ...CHANNEL_ERRORS,
  ...CORRECTION_ERRORS,
  ...CREDENTIALS_ERRORS,
  ...PROVIDER_INVOICE_ERRORS,
  ...MESSAGE_ERRORS,
  ...OPTION_ERRORS,
  ...REDEMPTION_ERRORS,
  ...SETUP_ERRORS,
  ...TOKEN_ERRORS,
  ...TOP_UP_ERRORS,
  ...USER_ERRORS,
}

const domainError = errorsOf(DOMAIN_ERRORS)

export const toHttpError = ({ code, params }: CodedError): HttpError =>
  domainError(code as DomainErrorCode, params)
