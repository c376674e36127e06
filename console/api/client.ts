import { queryOptions } from '@tanstack/react-query'
import type { Static, TSchema } from 'typebox'
import type { auditLogQueries } from '#read-api/contract/audit-log.ts'
import type { callQueries } from '#read-api/contract/calls.ts'
import type { channelChecks } from '#read-api/contract/channel-actions.ts'
import type { healthQueries } from '#read-api/contract/channel-health.ts'
import type { timelineQueries } from '#read-api/contract/channel-timeline.ts'
import type { channelQueries } from '#read-api/contract/channels.ts'
import type { correctionQueries } from '#read-api/contract/corrections.ts'
import type { credentialQueries } from '#read-api/contract/credentials.ts'
import type { ledgerQueries } from '#read-api/contract/ledger.ts'
import type { logQueries } from '#read-api/contract/logs.ts'
import type { marginQueries } from '#read-api/contract/margins.ts'
import type { messageQueries } from '#read-api/contract/messages.ts'
import type { optionQueries } from '#read-api/contract/options.ts'
import type { pricingQueries } from '#read-api/contract/pricing.ts'
import type { providerInvoiceQueries } from '#read-api/contract/provider-invoices.ts'
import type { receiptQueries } from '#read-api/contract/receipts.ts'
import type { redemptionQueries } from '#read-api/contract/redemptions.ts'
import type { scratchCopyQueries } from '#read-api/contract/scratch-copies.ts'
import type { statusQueries } from '#read-api/contract/status.ts'
import type { taskQueries } from '#read-api/contract/tasks.ts'
import type { timeTravelQueries } from '#read-api/contract/time-travel.ts'
import type { tokenQueries } from '#read-api/contract/tokens.ts'
import type { orderQueries } from '#read-api/contract/top-ups.ts'
import type { transparencyLogQueries } from '#read-api/contract/transparency-log.ts'
import type { usageQueries } from '#read-api/contract/usage.ts'
import type { userQueries } from '#read-api/contract/users.ts'
import type { verificationQueries } from '#read-api/contract/verifications.ts'
import type { verificationActions } from '#write-api/contract/audit-jobs.ts'
import type { channelActions } from '#write-api/contract/channels.ts'
import type { credentialActions } from '#write-api/contract/credentials.ts'
import type { loginActions } from '#write-api/contract/login.ts'
import type { messageActions } from '#write-api/contract/messages.ts'
import type { oauthActions } from '#write-api/contract/oauth.ts'
import type { optionActions } from '#write-api/contract/options.ts'
import type { providerInvoiceActions } from '#write-api/contract/provider-invoices.ts'
import type { redemptionActions } from '#write-api/contract/redemptions.ts'
import type { registrationActions } from '#write-api/contract/registration-password-reset-and-setup.ts'
import type { correctionActions } from '#write-api/contract/repricing-and-corrections.ts'
import type { scratchCopyActions } from '#write-api/contract/scratch-copies.ts'
import type { tokenActions } from '#write-api/contract/tokens.ts'
import type { orderActions } from '#write-api/contract/top-ups.ts'
import type { userActions } from '#write-api/contract/users.ts'
import { type ApiAnswer, type ApiRequest, type QueryValue, request } from './request.ts'

/**
 * The definitions of all routes. Only the types are imported, because the schemas of the routes
 * would enlarge the console's script.
 */
type Routes = typeof auditLogQueries &
  typeof callQueries &
  typeof channelActions &
  typeof channelChecks &
  typeof channelQueries &
  typeof correctionActions &
  typeof correctionQueries &
  typeof credentialActions &
  typeof credentialQueries &
  typeof healthQueries &
  typeof providerInvoiceActions &
  typeof providerInvoiceQueries &
  typeof ledgerQueries &
  typeof logQueries &
  typeof loginActions &
  typeof marginQueries &
  typeof messageActions &
  typeof messageQueries &
  typeof oauthActions &
  typeof optionActions &
  typeof optionQueries &
  typeof orderActions &
  typeof orderQueries &
  typeof pricingQueries &
  typeof receiptQueries &
  typeof redemptionActions &
  typeof redemptionQueries &
  typeof registrationActions &
  typeof scratchCopyActions &
  typeof scratchCopyQueries &
  typeof statusQueries &
  typeof taskQueries &
  typeof timelineQueries &
  typeof timeTravelQueries &
  typeof tokenActions &
  typeof tokenQueries &
  typeof transparencyLogQueries &
  typeof usageQueries &
  typeof userActions &
  typeof userQueries &
  typeof verificationActions &
  typeof verificationQueries

export type RouteName = keyof Routes

type RoutePart<Name extends RouteName, Key extends string> =
  Routes[Name] extends Readonly<Record<Key, infer Schema extends TSchema>>
    ? Static<Schema>
    : unknown

/**
 * The type of the path or query parameters. Numbers and booleans are allowed where the schema
 * requires text, because every parameter is sent as text.
 */
type Texts<Fields> = unknown extends Fields
  ? unknown
  : {
      readonly [Key in keyof Fields]: NonNullable<Fields[Key]> extends string ? QueryValue : never
    }

type OptionalIfEmpty<Key extends string, Value> = unknown extends Value
  ? unknown
  : Partial<Value> extends Value
    ? { readonly [K in Key]?: Value }
    : { readonly [K in Key]: Value }

type SendOptions = Pick<
  ApiRequest,
  'afterPosition' | 'signal' | 'file' | 'idempotencyKey' | 'isLive' | 'renewsSession'
>

export type Input<Name extends RouteName> = SendOptions &
  OptionalIfEmpty<'params', Texts<RoutePart<Name, 'params'>>> &
  OptionalIfEmpty<'query', Texts<RoutePart<Name, 'querystring'>>> &
  OptionalIfEmpty<'body', RoutePart<Name, 'body'>>

type Envelope<Name extends RouteName> = Routes[Name] extends {
  readonly response: { readonly 200: infer Schema extends TSchema }
}
  ? Static<Schema>
  : never

export type Data<Name extends RouteName> =
  Envelope<Name> extends { data: infer Value } ? Value : never

type Arguments<Name extends RouteName> =
  Partial<Input<Name>> extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>]

export function methodAndPath(
  name: string,
  params: Readonly<Record<string, QueryValue>> = {},
): Pick<ApiRequest, 'method' | 'path'> {
  const [method, path = ''] = name.split(' ')
  return {
    method: method as NonNullable<ApiRequest['method']>,
    path: path.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(String(params[key]))),
  }
}

/**
 * Calls a route and returns the whole body of the response. Throws a translated `ApiError` if the
 * call fails.
 */
export const callForEnvelope = <Name extends RouteName>(
  name: Name,
  ...[input]: Arguments<Name>
) => {
  const { params, ...rest } = (input ?? {}) as UntypedInput
  return request<Data<Name>>({ ...methodAndPath(name, params), ...rest }) as Promise<
    Omit<ApiAnswer<Data<Name>>, 'envelope'> & { envelope: Envelope<Name> }
  >
}

type UntypedInput = Omit<ApiRequest, 'method' | 'path'> & {
  params?: Readonly<Record<string, QueryValue>>
}

/**
 * Calls a route and returns the field `data` of the response. Throws a translated `ApiError` if the
 * call fails.
 */
export const call = async <Name extends RouteName>(
  name: Name,
  ...input: Arguments<Name>
): Promise<Data<Name>> => (await callForEnvelope(name, ...input)).data

/**
 * Creates a TanStack query for a route. The default query key consists of the name of the route and
 * the input. Invalidating a key also invalidates the queries whose keys begin with that key.
 */
export const apiQuery = <Name extends RouteName>(
  name: Name,
  input: NonNullable<Arguments<Name>[0]> | undefined = undefined,
  queryKey: readonly unknown[] = input === undefined ? [name] : [name, input],
) =>
  queryOptions({
    queryKey,
    queryFn: ({ signal }) => call(name, ...([{ ...input, signal }] as unknown as Arguments<Name>)),
  })
