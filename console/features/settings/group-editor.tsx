import type { TFunction } from 'i18next'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { actionsColumn, type Column, column } from '#console/ui/data-grid/column-and-layout.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { useDialogItem } from '#console/ui/dialogs/use-dialog-item.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { GroupBadge, useTranslateGroupDescription } from '#console/ui/elements/group-tag.tsx'
import { SwitchField } from '#console/ui/forms/choice-inputs.tsx'
import { SelectField, TextAreaField, TextField } from '#console/ui/forms/fields.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { isSharedErrorKey } from '#console/ui/forms/server-field-errors.ts'
import { type DraftForm, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { deleteAction, editAction } from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { RowActions } from '#console/ui/lists/row-actions.tsx'
import { showError } from '#console/ui/messages/toast.ts'
import {
  draftOfGroup,
  emptyGroup,
  FIRST_GROUP,
  GROUP_COLORS,
  type GroupDraft,
  type GroupErrorKey,
  type GroupMaps,
  type GroupRow,
  groupOfDraft,
  groupRows,
  validateGroup,
  withGroup,
  withoutGroup,
} from './group-rows.ts'
import { type SettingsForm, usePausedRefresh } from './use-settings-form.ts'

/** Edits groups. The changes are saved only when the settings page is saved. */
export function GroupEditor(props: { form: SettingsForm; maps: GroupMaps }) {
  const { form, maps } = props
  const { t } = useTranslation()
  const [edited, setEdited] = useState<GroupRow | 'new' | null>(null)
  usePausedRefresh(form, edited !== null)
  const rows = useMemo(() => groupRows(maps), [maps])
  const remove = ({ name }: GroupRow) => {
    if (name === FIRST_GROUP) return showError(t('pricing.groupDefaultFixed'))
    form.set(withoutGroup(maps, name))
  }
  const layout = useColumnLayout('groups-table-columns', groupColumns(t, setEdited, remove))
  return (
    <>
      <div className="tg-list-ended">
        <DataGrid
          label={t('pricing.groupGrid')}
          rows={rows}
          rowKey={rowKey}
          layout={layout}
          total={rows.length}
          onOpen={setEdited}
          maxHeight="none"
        />
      </div>
      <div className="tg-group-add">
        <Button icon="add" onClick={() => setEdited('new')}>
          {t('pricing.groupAdd')}
        </Button>
      </div>
      <GroupDrawer
        edited={edited}
        groups={rows.map(({ name }) => name)}
        onClose={() => setEdited(null)}
        onApply={(row) => {
          form.set(withGroup(maps, row))
          setEdited(null)
        }}
      />
    </>
  )
}

const rowKey = (row: GroupRow): string => row.name

function Description({ row }: { row: GroupRow }) {
  const describeGroup = useTranslateGroupDescription()
  if (row.description === '') return NOTHING
  return <>{describeGroup(row.name, row.description)}</>
}

const NOTHING = <span className="tg-quiet">–</span>

function groupColumns(
  t: TFunction,
  onEdit: (row: GroupRow) => void,
  onDelete: (row: GroupRow) => void,
): Column<GroupRow>[] {
  const badge = ({ name, color }: GroupRow) => <GroupBadge name={name} color={color} />
  const usable = ({ isUsable }: GroupRow) => t(isUsable ? 'pricing.groupYes' : 'pricing.groupNo')
  const overridesText = ({ ratioOverrides: ratios }: GroupRow) =>
    ratios.size === 0 ? NOTHING : [...ratios].map(([name, ratio]) => `${name} ×${ratio}`).join(', ')
  return [
    column('name', t('ui.groupName'), 160, badge, { isPinned: true, onCard: 'title' }),
    column('description', t('pricing.groupDesc'), 180, (row) => <Description row={row} />, {
      isGrowing: true,
    }),
    column('ratio', t('ui.ratio'), 100, ({ ratio }) => `×${ratio}`, {
      align: 'end',
      onCard: 'aside',
    }),
    column('usable', t('pricing.groupUsable'), 110, usable),
    column('ratioOverrides', t('pricing.groupRatioOverrides'), 180, overridesText),
    actionsColumn(t, 96, (row) => (
      <RowActions
        actions={[
          editAction(() => onEdit(row), t('pricing.groupEdit', { name: row.name })),
          deleteAction(() => onDelete(row), t('pricing.groupDelete', { name: row.name })),
        ]}
      />
    )),
  ]
}

type DrawerProps = {
  edited: GroupRow | 'new' | null
  groups: readonly string[]
  onClose: () => void
  onApply: (row: GroupRow) => void
}

function GroupDrawer(props: DrawerProps) {
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
  const colors = choicesOf(['', ...GROUP_COLORS], (value) =>
    t(`pricing.color.${(value || 'plain') as 'plain'}`),
  )
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
