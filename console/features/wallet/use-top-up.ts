import { keepPreviousData, type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { callForEnvelope } from '#console/api/client.ts'
import {
  ordersKey,
  ownOrdersQuery,
  type PaymentPage,
  pay,
} from '#console/api/own-orders-and-payment.ts'
import { useStatus } from '#console/api/status.ts'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { showError } from '#console/ui/messages/toast.ts'
import { useDebouncedValue } from '#console/ui/state/throttle-debounce-and-live-refetch.ts'
import type { Status } from '#read-api/contract/status.ts'
import type { PaymentMethod } from '#read-api/contract/top-ups.ts'
import type { AmountRequest } from '#write-api/contract/top-ups.ts'

const PAUSE_MS = 300
const JUST_READ_MS = 2_000

export function useTopUp() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const status = useStatus()
  const min = minimumAmount(status)
  const methods = status?.topup_methods ?? []
  const [draft, setDraft] = useState<TopUpDraft>({ amount: null, code: '', method: 'zfb' })
  // The code changes only on blur and submit, because the server limits the number of wrong codes.
  const [code, setCode] = useState('')
  const isCodeTyped = draft.code.trim() === code
  const [isAsking, setAsking] = useState(false)
  const method = methods.includes(draft.method) ? draft.method : (methods[0] ?? 'zfb')
  const typed = draft.amount ?? String(min)
  const enteredAmount = amountOf(typed)
  const amount = enteredAmount ?? min
  const errorText = amountError(t, enteredAmount, min)
  const paymentRequest = { amount, top_up_code: code, payment_method: method }
  const settled = useDebouncedValue(JSON.stringify(paymentRequest), PAUSE_MS)
  const price = useQuery({
    queryKey: ['top-up-amount', settled],
    queryFn: ({ signal }) => topUpAmount(JSON.parse(settled), signal),
    enabled: methods.length > 0 && errorText === '' && settled === JSON.stringify(paymentRequest),
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 0,
  })
  const isSettled = settled === JSON.stringify(paymentRequest) && isCodeTyped
  const priceError = isCodeTyped ? price.error : null
  const isCurrent = isSettled && !price.isFetching && errorText === '' && price.data !== undefined
  const { isBusy, submit } = useSubmit(async () => {
    try {
      const page = await pay(paymentRequest)
      setAsking(false)
      await client.invalidateQueries({ queryKey: ordersKey })
      await rememberOrder(client)
      goToPayment(page, () => showError(t('wallet.paymentOutdated')))
    } catch (error) {
      setAsking(false)
      const hasResponse = error instanceof ApiError && error.status !== 0
      showError(hasResponse ? error : t('wallet.payFailed'))
    }
  })
  return {
    draft: { ...draft, method, amount: typed },
    change: (part: Partial<TopUpDraft>): void => setDraft({ ...draft, ...part }),
    typeOut: (): void => setDraft({ ...draft, amount: completedAmount(typed) }),
    takeCode: (): void => setCode(draft.code.trim()),
    min,
    methods,
    amount,
    errorText,
    price,
    priceError,
    isCurrent,
    isAsking,
    setAsking,
    isBusy,
    submit,
  }
}

function amountError(t: TFunction, amount: number | null, min: number): string {
  if (amount === null) return t('wallet.amountNotWhole')
  if (amount < min) return t('wallet.amountTooSmall', { min })
  return amount > AMOUNT_MAX ? t('wallet.amountTooLarge', { max: AMOUNT_MAX }) : ''
}

/**
 * Stores the id of the order that the user is about to pay. If reading the orders fails, the
 * function stores nothing and throws no error, so that the payment can go on.
 */
async function rememberOrder(client: QueryClient): Promise<void> {
  const paymentRequest = { ...ownOrdersQuery(0), staleTime: JUST_READ_MS, retry: false }
  const newest = (await client.fetchQuery(paymentRequest).catch(() => null))?.items[0]
  if (newest?.status === 'pending') awaitOrder(newest.id)
}

export type TopUp = ReturnType<typeof useTopUp>

/**
 * An amount of money. `money` is an exact decimal text such as `7.30`, and `currency` is an ISO
 * 4217 code.
 */
type Money = { money: string; currency: string }

async function topUpAmount(body: AmountRequest, signal: AbortSignal): Promise<Money> {
  const { data, envelope } = await callForEnvelope('POST /api/user/amount', { body, signal })
  return { money: data, currency: envelope.currency }
}

/**
 * Opens the payment page. Calls `onBlocked` if the content security policy (CSP) of the console
 * does not allow sending a form to the payment page.
 */
function goToPayment({ fields, url }: PaymentPage, onBlocked: () => void): void {
  if (!/^https?:\/\//.test(url)) throw new Error('a payment page has an http address')
  if (Object.keys(fields).length === 0) {
    window.location.assign(url)
    return
  }
  const form = document.createElement('form')
  form.method = 'post'
  form.action = url
  form.hidden = true
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement('input')
    input.type = 'hidden'
    input.name = name
    input.value = value
    form.append(input)
  }
  document.addEventListener('securitypolicyviolation', onBlocked, { once: true })
  document.body.append(form)
  // A form field named `submit` would shadow the form's method.
  HTMLFormElement.prototype.submit.call(form)
  form.remove()
}

const KEY = 'awaited-top-up'

/**
 * Returns the id of the order that the user is paying in this browser tab, or null if there is
 * none.
 */
export function pendingOrder(): number | null {
  const id = Number(sessionStorage.getItem(KEY) ?? 0)
  return Number.isSafeInteger(id) && id > 0 ? id : null
}

const awaitOrder = (id: number): void => sessionStorage.setItem(KEY, String(id))

/**
 * Removes the stored order `id`. Returns whether the order was still stored, so that the caller
 * reports a payment only once.
 */
export function removeStoredOrder(id: number): boolean {
  if (pendingOrder() !== id) return false
  sessionStorage.removeItem(KEY)
  return true
}

type TopUpDraft = { amount: string | null; code: string; method: PaymentMethod }

const AMOUNT_MAX = 1_000_000
const PRESET_AMOUNTS = [5, 10, 20, 50, 100, 500]

/**
 * Returns the entered amount without leading zeros. An empty amount and 0 become 1. An invalid text
 * is returned unchanged, so that the form shows an error.
 */
const completedAmount = (text: string): string =>
  /^\d*$/.test(text) ? text.replace(/^0+/, '') || '1' : text

const amountOf = (typed: string): number | null => (/^\d+$/.test(typed) ? Number(typed) : null)

const minimumAmount = (status: Pick<Status, 'min_topup'> | undefined): number =>
  Math.max(1, status?.min_topup ?? 1)

export const presetAmounts = (min: number): readonly number[] =>
  PRESET_AMOUNTS.some((preset) => preset >= min)
    ? PRESET_AMOUNTS.filter((preset) => preset >= min)
    : [min, min * 2, min * 5].filter((preset) => preset <= AMOUNT_MAX)
