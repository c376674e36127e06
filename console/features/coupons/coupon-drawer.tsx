import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { redemptionsKey } from '#console/api/redemptions.ts'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { useDialogItem } from '#console/ui/dialogs/use-dialog-item.ts'
import { useAmountUnit } from '#console/ui/forms/amount-field.tsx'
import { serverFieldError } from '#console/ui/forms/server-field-errors.ts'
import { errorsByCode, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { AmountUnit } from '#console/ui/quota/quota-amount.ts'
import { randomId } from '#console/ui/state/random-id.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import type { CreateRedemption } from '#write-api/contract/redemptions.ts'
import type { CsvCoupon } from './coupon-csv.ts'
import {
  type CouponDraft,
  couponErrors,
  createCouponBody,
  draftOfCoupon,
  newCoupon,
  updateCouponBody,
} from './coupon-draft.ts'
import { CouponForm } from './coupon-form.tsx'

type CouponDrawerProps = {
  edited: Redemption | 'new' | null
  onClose: () => void
  onCreated: (coupons: readonly CsvCoupon[]) => void
}

export function CouponDrawer(props: CouponDrawerProps) {
  const { shown, key } = useDialogItem(props.edited)
  return <OpenDrawer key={key} {...props} coupon={shown ?? 'new'} />
}

type OpenDrawerProps = CouponDrawerProps & { coupon: Redemption | 'new' }

function OpenDrawer(props: OpenDrawerProps) {
  const { t } = useTranslation()
  const { coupon } = props
  const isNew = coupon === 'new'
  const used = isNew ? 0 : coupon.used_count
  const unit = useAmountUnit()
  const form = useDraftForm<CouponDraft>({
    initial: () => (isNew ? newCoupon(unit) : draftOfCoupon(coupon, unit)),
    validate: (draft, { validUntil }) => couponErrors(t, draft, unit, { used, validUntil }),
    save: useSave(props, unit),
    errorsOf: keyErrors,
    onRepeat: props.onClose,
  })
  return (
    <FormDrawer
      isOpen={props.edited !== null}
      title={t(isNew ? 'coupons.createTitle' : 'coupons.editTitle')}
      lead={isNew ? t('coupons.createLead') : coupon.name}
      submitText={t(isNew ? 'coupons.createAction' : 'words.save')}
      form={form}
      onClose={props.onClose}
    >
      <CouponForm form={form} unit={unit} isNew={isNew} used={used} />
    </FormDrawer>
  )
}

const KEY_CODES = ['RedemptionKeyTaken', 'RedemptionKeyTooShort', 'OneKeyOneCode']

function keyErrors(error: unknown) {
  const named = serverFieldError(error)
  if (named?.field === 'key') return { key: named.text }
  return errorsByCode<CouponDraft>({ key: KEY_CODES })(error)
}

/** A retry of the last attempt gets the same key, so that it does not create codes twice. */
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
    const terms = createCouponBody(draft, unit)
    const asked = { ...terms, count: Number(draft.count), key: draft.key.trim() }
    const keys = await createRedemptions(asked, keyFor(attempt.current, JSON.stringify(asked)))
    await readAgain()
    const { name, quota } = terms
    const gift = { is_gift: draft.isGift, max_uses: draft.isGift ? (terms.max_uses ?? -1) : 1 }
    const times = { valid_from: terms.valid_from ?? 0, valid_until: terms.valid_until ?? 0 }
    onCreated(keys.map((key) => ({ key, name, quota, ...gift, ...times })))
  }
  return async (draft: CouponDraft, before: CouponDraft) => {
    if (coupon === 'new') return create(draft)
    const changed = updateCouponBody(before, draft, unit)
    if (Object.keys(changed).length > 0)
      await call('PUT /api/redemption/', { body: { id: coupon.id, ...changed } })
    await readAgain()
    showSuccess(t('coupons.saved'))
    onClose()
  }
}

/** Creates all codes or none. The same `idempotencyKey` returns the same keys. */
const createRedemptions = (body: CreateRedemption, idempotencyKey: string): Promise<string[]> =>
  call('POST /api/redemption/', { body, idempotencyKey })
