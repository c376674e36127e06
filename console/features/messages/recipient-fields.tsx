import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { groupsQuery } from '#console/api/account-queries.ts'
import { Icon } from '#console/ui/elements/icons.tsx'
import { Checkbox, Segmented } from '#console/ui/forms/choice-inputs.tsx'
import type { DraftForm } from '#console/ui/forms/use-draft-form.ts'
import type { Audience, MessageText, Recipients } from './message-draft.ts'
import { UserPicker } from './user-picker.tsx'

const AUDIENCES: readonly Audience[] = ['users', 'groups', 'everybody']

export function RecipientFields(props: { form: DraftForm<MessageText & Recipients> }) {
  const { t } = useTranslation()
  const { draft: selected, errors, change: onChange } = props.form
  return (
    <fieldset className="tg-form-group">
      <legend>{t('messages.audience')}</legend>
      <Segmented
        label={t('messages.audience')}
        value={selected.audience}
        choices={AUDIENCES.map((audience) => ({
          value: audience,
          label: t(`messages.audiences.${audience}`),
        }))}
        onChange={(audience) => onChange({ audience })}
      />
      {selected.audience === 'users' && (
        <UserPicker selected={selected.users} onChange={(users) => onChange({ users })} />
      )}
      {selected.audience === 'groups' && (
        <Groups selected={selected.groups} onChange={(groups) => onChange({ groups })} />
      )}
      {selected.audience === 'everybody' && (
        <p className="tg-hint">{t('messages.everybodyHint')}</p>
      )}
      {errors.audience !== undefined && (
        <p className="tg-field-error" role="alert">
          <Icon name="alert" size={14} />
          {errors.audience}
        </p>
      )}
    </fieldset>
  )
}

function Groups(props: {
  selected: readonly string[]
  onChange: (selected: readonly string[]) => void
}) {
  const { selected, onChange } = props
  const groups = useQuery(groupsQuery).data ?? []
  return (
    <div className="tg-picker-groups">
      {groups.map((name) => (
        <Checkbox
          key={name}
          label={name}
          isOn={selected.includes(name)}
          onChange={(isOn) =>
            onChange(isOn ? [...selected, name] : selected.filter((other) => other !== name))
          }
        />
      ))}
    </div>
  )
}
