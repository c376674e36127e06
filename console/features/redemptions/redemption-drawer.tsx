import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { invalidFieldOf } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { redemptionsKey } from '#console/api/token-and-redemption-queries.ts'
import { randomId } from '#console/ui/browser/random-id.ts'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { useDialogItem } from '#console/ui/dialogs/use-dialog-item.ts'
import { useAmountUnit } from '#console/ui/forms/amount-field.tsx'
import { errorsByCode, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { AmountUnit } from '#console/ui/quota/convert-entered-amount.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import type { CreateRedemption } from '#write-api/contract/redemptions.ts'
import type { CsvRedemption } from './redemption-csv.ts'
import {
  createRedemptionBody,
  draftOfRedemption,
  newRedemption,
  type RedemptionDraft,
  redemptionErrors,
  updateRedemptionBody,
} from './redemption-draft.ts'
import { RedemptionForm } from './redemption-form.tsx'

type RedemptionDrawerProps = {
  edited: Redemption | 'new' | null
  onClose: () => void
  onCreated: (redemptions: readonly CsvRedemption[]) => void
}

export function RedemptionDrawer(props: RedemptionDrawerProps) {
  const { lastItem, key } = useDialogItem(props.edited)
  return <OpenDrawer key={key} {...props} redemption={lastItem ?? 'new'} />
}

type OpenDrawerProps = RedemptionDrawerProps & { redemption: Redemption | 'new' }

function OpenDrawer(props: OpenDrawerProps) {
  const { t } = useTranslation()
  const { redemption } = props
  const isNew = redemption === 'new'
  const used = isNew ? 0 : redemption.used_count
  const unit = useAmountUnit()
  const form = useDraftForm<RedemptionDraft>({
    initial: () => (isNew ? newRedemption(unit) : draftOfRedemption(redemption, unit)),
    validate: (draft, { validUntil }) => redemptionErrors(t, draft, unit, { used, validUntil }),
    save: useSave(props, unit),
    errorsOf: keyErrors,
    onRepeat: props.onClose,
  })
  return (
    <FormDrawer
      isOpen={props.edited !== null}
      title={t(isNew ? 'redemptions.createTitle' : 'redemptions.editTitle')}
      lead={isNew ? t('redemptions.createLead') : redemption.name}
      submitText={t(isNew ? 'redemptions.createAction' : 'shared.save')}
      form={form}
      onClose={props.onClose}
    >
      <RedemptionForm form={form} unit={unit} isNew={isNew} used={used} />
    </FormDrawer>
  )
}

const KEY_CODES = ['RedemptionKeyTaken', 'RedemptionKeyTooShort', 'OneKeyOneCode']

function keyErrors(error: unknown) {
  const invalid = invalidFieldOf(error)
  if (invalid?.name === 'key') return { key: invalid.problem }
  return errorsByCode<RedemptionDraft>({ key: KEY_CODES })(error)
}

/**
 * Returns the idempotency key for a request whose body is the JSON text `request`. If `attempt`
 * contains the same request, its key is returned, so that a retry does not create codes twice.
 * Otherwise, `attempt` is overwritten with the request and a new key.
 */
function idempotencyKeyFor(attempt: { request: string; key: string }, request: string): string {
  if (attempt.request !== request) Object.assign(attempt, { request, key: randomId() })
  return attempt.key
}

function useSave({ redemption, onClose, onCreated }: OpenDrawerProps, unit: AmountUnit) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const attempt = useRef({ request: '', key: '' })
  const refetch = () => client.invalidateQueries({ queryKey: redemptionsKey })
  const create = async (draft: RedemptionDraft) => {
    const terms = createRedemptionBody(draft, unit)
    const request = { ...terms, count: Number(draft.count), key: draft.key.trim() }
    const keys = await createRedemptions(
      request,
      idempotencyKeyFor(attempt.current, JSON.stringify(request)),
    )
    await refetch()
    const { name, quota } = terms
    const gift = { is_gift: draft.isGift, max_uses: draft.isGift ? (terms.max_uses ?? -1) : 1 }
    const times = { valid_from: terms.valid_from ?? 0, valid_until: terms.valid_until ?? 0 }
    onCreated(keys.map((key) => ({ key, name, quota, ...gift, ...times })))
  }
  return async (draft: RedemptionDraft, before: RedemptionDraft) => {
    if (redemption === 'new') return create(draft)
    const changed = updateRedemptionBody(before, draft, unit)
    if (Object.keys(changed).length > 0)
      await call('PUT /api/redemption/', { body: { id: redemption.id, ...changed } })
    await refetch()
    showSuccess(t('redemptions.saved'))
    onClose()
  }
}

/**
 * Creates codes and returns their keys. A request with the `idempotencyKey` of an earlier request
 * returns the keys of that request.
 */
const createRedemptions = (body: CreateRedemption, idempotencyKey: string): Promise<string[]> =>
  call('POST /api/redemption/', { body, idempotencyKey })
