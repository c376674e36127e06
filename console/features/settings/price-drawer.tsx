import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { useDialogItem } from '#console/ui/dialogs/use-dialog-item.ts'
import { isSharedErrorKey } from '#console/ui/forms/shared-error-keys.ts'
import { useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import {
  changedRow,
  draftOfRow,
  emptyPrice,
  type PriceDraft,
  type PriceErrorKey,
  rowOfDraft,
  validatePrice,
} from './price-draft.ts'
import { PriceFields } from './price-fields.tsx'
import type { PriceRow } from './price-rows.ts'
import type { OutputLimitFallback } from './use-output-limit-fallback.ts'

type PriceDrawerProps = {
  edited: PriceRow | 'new' | null
  capFallback: OutputLimitFallback
  /** The names of all models that have a price. The name of a new model must be different. */
  existingNames: ReadonlySet<string>
  /** The initial name in a form that was opened for a model without a price. */
  newName?: string
  onClose: () => void
  /** `before` is the model's previous name, or null for a new model. */
  onApply: (row: PriceRow, before: string | null) => void
}

export function PriceDrawer(props: PriceDrawerProps) {
  const { lastItem, key } = useDialogItem(props.edited)
  return <OpenDrawer key={key} {...props} row={lastItem ?? 'new'} />
}

function OpenDrawer(props: PriceDrawerProps & { row: PriceRow | 'new' }) {
  const { row } = props
  const { t } = useTranslation()
  const existingNames = useOtherNames(props.existingNames, row === 'new' ? null : row.name)
  const form = useDraftForm<PriceDraft, PriceErrorKey>({
    initial: () => (row === 'new' ? { ...emptyPrice, name: props.newName ?? '' } : draftOfRow(row)),
    validate: (draft, before) => validatePrice(draft, existingNames, before),
    errorText: (errorKey) =>
      t(isSharedErrorKey(errorKey) ? `shared.error.${errorKey}` : `pricing.error.${errorKey}`),
    save: async (draft, before) => {
      if (row === 'new') props.onApply(rowOfDraft(draft), null)
      else props.onApply(changedRow(row, before, draft), row.name)
    },
  })
  return (
    <FormDrawer
      isOpen={props.edited !== null}
      title={t(row === 'new' ? 'pricing.priceAddTitle' : 'pricing.priceTitle')}
      lead={t('pricing.unsavedLead')}
      submitText={t('pricing.apply')}
      form={form}
      onClose={props.onClose}
    >
      <PriceFields capFallback={props.capFallback} form={form} />
    </FormDrawer>
  )
}

const useOtherNames = (
  existingNames: ReadonlySet<string>,
  own: string | null,
): ReadonlySet<string> =>
  useMemo(() => new Set([...existingNames].filter((name) => name !== own)), [existingNames, own])
