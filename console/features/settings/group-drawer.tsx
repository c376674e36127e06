import { useTranslation } from 'react-i18next'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { useDialogItem } from '#console/ui/dialogs/use-dialog-item.ts'
import { SwitchField } from '#console/ui/forms/choice-inputs.tsx'
import { SelectField, TextAreaField, TextField } from '#console/ui/forms/fields.tsx'
import { isSharedErrorKey } from '#console/ui/forms/server-field-errors.ts'
import { type DraftForm, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import {
  draftOfGroup,
  emptyGroup,
  GROUP_COLORS,
  type GroupDraft,
  type GroupErrorKey,
  type GroupRow,
  groupOfDraft,
  validateGroup,
} from './group-rows.ts'

type DrawerProps = {
  edited: GroupRow | 'new' | null
  groups: readonly string[]
  onClose: () => void
  onApply: (row: GroupRow) => void
}

export function GroupDrawer(props: DrawerProps) {
  const { lastItem, key } = useDialogItem(props.edited)
  return <OpenDrawer key={key} {...props} row={lastItem ?? 'new'} />
}

function OpenDrawer(props: DrawerProps & { row: GroupRow | 'new' }) {
  const { row, groups } = props
  const { t } = useTranslation()
  const isNew = row === 'new'
  const form = useDraftForm<GroupDraft, GroupErrorKey>({
    initial: () => (isNew ? emptyGroup : draftOfGroup(row)),
    validate: (draft) => validateGroup(draft, groups, isNew),
    errorText: (errorKey) =>
      t(isSharedErrorKey(errorKey) ? `shared.error.${errorKey}` : `pricing.groupError.${errorKey}`),
    save: async (draft) => props.onApply(groupOfDraft(draft, groups)),
  })
  return (
    <FormDrawer
      isOpen={props.edited !== null}
      title={t(isNew ? 'pricing.groupAddTitle' : 'pricing.groupEditTitle')}
      lead={t('pricing.unsavedLead')}
      submitText={t('pricing.apply')}
      form={form}
      onClose={props.onClose}
    >
      <GroupFields form={form} isNew={isNew} />
    </FormDrawer>
  )
}

function GroupFields(props: { form: DraftForm<GroupDraft>; isNew: boolean }) {
  const { form, isNew } = props
  const { t } = useTranslation()
  const colors = ['', ...GROUP_COLORS].map((value) => ({
    value,
    label: t(`pricing.color.${(value || 'plain') as 'plain'}`),
  }))
  return (
    <>
      <TextField
        label={t('pricing.groupName')}
        hint={t('pricing.groupNameHint')}
        isRequired
        maxLength={256}
        readOnly={!isNew}
        {...form.field('name')}
      />
      <div className="tg-form-row">
        <TextField
          label={t('ui.ratio')}
          hint={t('pricing.groupRatioHint')}
          isRequired
          inputMode="decimal"
          isMono
          {...form.field('ratio')}
        />
        <SelectField label={t('pricing.groupColor')} choices={colors} {...form.field('color')} />
      </div>
      <SwitchField
        label={t('pricing.groupUsable')}
        hint={t('pricing.groupUsableHint')}
        {...form.field('isUsable')}
      />
      {form.draft.isUsable && (
        <TextField
          label={t('pricing.groupDesc')}
          hint={t('pricing.groupDescHint')}
          maxLength={200}
          {...form.field('description')}
        />
      )}
      <TextAreaField
        label={t('pricing.groupRatioOverrides')}
        hint={t('pricing.groupRatioOverridesHint')}
        isMono
        rows={4}
        placeholder="default=0.9"
        {...form.field('ratioOverrides')}
      />
    </>
  )
}
