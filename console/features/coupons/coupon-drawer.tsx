import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { redemptionsKey } from '#console/api/redemptions.ts'
import { useStatus } from '#console/api/status.ts'
import { namedField } from '#console/ui/at-field.ts'
import { FormDrawer } from '#console/ui/form-drawer.tsx'
import { type AmountUnit, amountUnitOf } from '#console/ui/quota-amount.ts'
import { randomId } from '#console/ui/random-id.ts'
import { showSuccess } from '#console/ui/toast.ts'
import { focusFirstFault, useSubmit } from '#console/ui/use-submit.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import type { CreateRedemption } from '#write-api/contract/redemptions.ts'
import type { CsvCoupon } from './coupon-csv.ts'
import {
  type CouponDraft,
  type CouponFaults,
  changedTerms,
  couponFaults,
  draftOfCoupon,
  newCoupon,
  termsOfDraft,
} from './coupon-draft.ts'
import { CouponForm } from './coupon-form.tsx'

type CouponDrawerProps = {
  edited: Redemption | 'new' | null
  onClose: () => void
  /** The codes that were made, in order, with their keys. */
  onCreated: (coupons: readonly CsvCoupon[]) => void
}

/** Creates codes, or changes one. Mounted anew for each, so that no draft is left over. */
export function CouponDrawer(props: CouponDrawerProps): ReactElement {
  const last = useRef<Redemption | 'new'>('new')
  if (props.edited !== null) last.current = props.edited
  const key = last.current === 'new' ? 'new' : last.current.id
  return <OpenDrawer key={`${key}-${props.edited === null}`} {...props} coupon={last.current} />
}

type OpenDrawerProps = CouponDrawerProps & { coupon: Redemption | 'new' }

function OpenDrawer(props: OpenDrawerProps): ReactElement {
  const { t } = useTranslation()
  const { coupon } = props
  const isNew = coupon === 'new'
  const used = isNew ? 0 : coupon.used_count
  const form = useRef<HTMLFormElement>(null)
  const unit = useAmountUnit()
  const [before] = useState(isNew ? newCoupon(unit) : draftOfCoupon(coupon, unit))
  const [draft, setDraft] = useState<CouponDraft>(before)
  const [faults, setFaults] = useState<CouponFaults>({})
  const [refused, setRefused] = useState({ key: '', words: '' })
  const save = useSave(props, unit)
  const faultsOf = (next: CouponDraft) =>
    couponFaults(next, unit, { used, validUntil: before.validUntil })
  const { isBusy, submit } = useSubmit(async () => {
    const found = faultsOf(draft)
    setFaults(found)
    if (Object.keys(found).length > 0) return focusFirstFault(form)
    try {
      await save(before, draft)
    } catch (error) {
      const words = keyWords(error)
      if (words === null) throw error
      setRefused({ key: draft.key, words })
      focusFirstFault(form)
    }
  }, props.onClose)
  const change = (patch: Partial<CouponDraft>) => {
    const next = { ...draft, ...patch }
    setDraft(next)
    if (Object.keys(faults).length > 0) setFaults(faultsOf(next))
  }
  return (
    <FormDrawer
      isOpen={props.edited !== null}
      title={t(isNew ? 'coupons.createTitle' : 'coupons.editTitle')}
      lead={isNew ? t('coupons.createLead') : coupon.name}
      submitText={t(isNew ? 'coupons.createAction' : 'coupons.saveAction')}
      form={form}
      isChanged={JSON.stringify(draft) !== JSON.stringify(before)}
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={props.onClose}
    >
      <CouponForm
        draft={draft}
        faults={faults}
        keyRefusal={refused.key === draft.key ? refused.words : ''}
        unit={unit}
        isNew={isNew}
        used={used}
        onChange={change}
      />
    </FormDrawer>
  )
}

const KEY_CODES = ['RedemptionKeyTaken', 'RedemptionKeyTooShort', 'OneKeyOneCode']

/** Of an own key that the server refused; null: it was something else. */
function keyWords(error: unknown): string | null {
  if (error instanceof ApiError && KEY_CODES.includes(error.code)) return error.message
  const named = namedField(error)
  return named?.field === 'key' ? named.text : null
}

function useAmountUnit(): AmountUnit {
  const status = useStatus()
  const { display_in_currency = true, quota_per_unit = 500_000 } = status ?? {}
  return useMemo(
    () => amountUnitOf(display_in_currency, quota_per_unit),
    [display_in_currency, quota_per_unit],
  )
}

/** The same as long as the same is asked for: pressed again after a fault, it is no second act. */
function keyFor(attempt: { asked: string; key: string }, asked: string): string {
  if (attempt.asked !== asked) Object.assign(attempt, { asked, key: randomId() })
  return attempt.key
}

function useSave({ coupon, onClose, onCreated }: OpenDrawerProps, unit: AmountUnit) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const attempt = useRef({ asked: '', key: '' })
  const readAgain = () => client.invalidateQueries({ queryKey: redemptionsKey })
  const create = async (draft: CouponDraft) => {
    const terms = termsOfDraft(draft, unit)
    const asked = { ...terms, count: Number(draft.count), key: draft.key.trim() }
    const keys = await createRedemptions(asked, keyFor(attempt.current, JSON.stringify(asked)))
    await readAgain()
    const { name, quota } = terms
    const gift = { is_gift: draft.isGift, max_uses: draft.isGift ? (terms.max_uses ?? -1) : 1 }
    const times = { valid_from: terms.valid_from ?? 0, valid_until: terms.valid_until ?? 0 }
    onCreated(keys.map((key) => ({ key, name, quota, ...gift, ...times })))
  }
  return async (before: CouponDraft, draft: CouponDraft) => {
    if (coupon === 'new') return create(draft)
    const changed = changedTerms(before, draft, unit)
    if (Object.keys(changed).length > 0)
      await call('PUT /api/redemption/', { body: { id: coupon.id, ...changed } })
    await readAgain()
    showSuccess(t('coupons.saved'))
    onClose()
  }
}

/**
 * One code or `count` of them, all or none; answers their keys, in order. Once for an
 * `idempotencyKey`: where the answer got lost, the same ones again.
 */
const createRedemptions = (body: CreateRedemption, idempotencyKey: string): Promise<string[]> =>
  call('POST /api/redemption/', { body, idempotencyKey })
