import { type ReactElement, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FormDrawer } from '#console/ui/form-drawer.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { Select, TextArea, TextInput } from '#console/ui/inputs.tsx'
import { Switch } from '#console/ui/switches.tsx'
import { focusFirstFault } from '#console/ui/use-submit.ts'
import {
  draftOfGroup,
  emptyGroup,
  type GroupDraft,
  type GroupFaults,
  groupFaults,
  groupOfDraft,
} from './group-draft.ts'
import { GROUP_COLORS, type GroupRow } from './group-table.ts'

type DrawerProps = {
  edited: GroupRow | 'new' | null
  /** The names of all groups. */
  groups: readonly string[]
  onClose: () => void
  onApply: (row: GroupRow) => void
}

/** One group. Mounted anew for each, so that no draft is left over. */
export function GroupDrawer(props: DrawerProps): ReactElement {
  const last = useRef<GroupRow | 'new'>('new')
  if (props.edited !== null) last.current = props.edited
  const name = last.current === 'new' ? ' new' : last.current.name
  return <OpenDrawer key={`${name}-${props.edited === null}`} {...props} row={last.current} />
}

function OpenDrawer(props: DrawerProps & { row: GroupRow | 'new' }): ReactElement {
  const { row, groups } = props
  const { t } = useTranslation()
  const form = useRef<HTMLFormElement>(null)
  const isNew = row === 'new'
  const [before] = useState<GroupDraft>(() => (row === 'new' ? emptyGroup : draftOfGroup(row)))
  const [draft, setDraft] = useState(before)
  const [faults, setFaults] = useState<GroupFaults>({})
  const change = (patch: Partial<GroupDraft>) => {
    const next = { ...draft, ...patch }
    setDraft(next)
    if (Object.keys(faults).length > 0) setFaults(groupFaults(next, groups, isNew))
  }
  const apply = () => {
    const found = groupFaults(draft, groups, isNew)
    setFaults(found)
    if (Object.keys(found).length > 0) focusFirstFault(form)
    else props.onApply(groupOfDraft(draft, groups))
  }
  return (
    <FormDrawer
      isOpen={props.edited !== null}
      title={t(isNew ? 'prices.groupAddTitle' : 'prices.groupEditTitle')}
      lead={t('prices.groupLead')}
      submitText={t('settings.apply')}
      form={form}
      isChanged={JSON.stringify(draft) !== JSON.stringify(before)}
      onSubmit={apply}
      onClose={props.onClose}
    >
      <GroupFields draft={draft} faults={faults} isNew={isNew} onChange={change} />
    </FormDrawer>
  )
}

function GroupFields(props: {
  draft: GroupDraft
  faults: GroupFaults
  isNew: boolean
  onChange: (patch: Partial<GroupDraft>) => void
}): ReactElement {
  const { draft, isNew, onChange } = props
  const { t } = useTranslation()
  const fault = (field: keyof GroupFaults) => {
    const code = props.faults[field]
    return code && t(`prices.groupFault.${code}`)
  }
  const colors = ['', ...GROUP_COLORS].map((value) => ({
    value,
    label: t(`prices.color.${(value || 'plain') as 'plain'}`),
  }))
  return (
    <>
      <FormField
        label={t('prices.groupName')}
        hint={t('prices.groupNameHint')}
        error={fault('name')}
        isRequired
      >
        {(control) => (
          <TextInput
            {...control}
            maxLength={256}
            readOnly={!isNew}
            value={draft.name}
            onChange={(name) => onChange({ name })}
          />
        )}
      </FormField>
      <div className="tg-form-row">
        <FormField
          label={t('prices.groupRatio')}
          hint={t('prices.groupRatioHint')}
          error={fault('ratio')}
          isRequired
        >
          {(control) => (
            <TextInput
              {...control}
              inputMode="decimal"
              isMono
              value={draft.ratio}
              onChange={(ratio) => onChange({ ratio })}
            />
          )}
        </FormField>
        <FormField label={t('prices.groupColor')}>
          {(control) => (
            <Select
              {...control}
              value={draft.color}
              choices={colors}
              onChange={(color) => onChange({ color })}
            />
          )}
        </FormField>
      </div>
      <Switch
        label={t('prices.groupUsable')}
        hint={t('prices.groupUsableHint')}
        isOn={draft.isUsable}
        onChange={(isUsable) => onChange({ isUsable })}
      />
      {draft.isUsable && (
        <FormField label={t('prices.groupDesc')} hint={t('prices.groupDescHint')}>
          {(control) => (
            <TextInput
              {...control}
              maxLength={200}
              value={draft.description}
              onChange={(description) => onChange({ description })}
            />
          )}
        </FormField>
      )}
      <FormField
        label={t('prices.groupSpecials')}
        hint={t('prices.groupSpecialsHint')}
        error={fault('specials')}
      >
        {(control) => (
          <TextArea
            {...control}
            isMono
            rows={4}
            placeholder="default=0.9"
            value={draft.specials}
            onChange={(specials) => onChange({ specials })}
          />
        )}
      </FormField>
    </>
  )
}
