import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { groupsQuery } from '#console/api/account.ts'
import { Icon } from '#console/ui/elements/icons.tsx'
import { Checkbox, Segmented } from '#console/ui/forms/switches.tsx'
import type { DraftForm } from '#console/ui/forms/use-draft-form.ts'
import type { Audience, Chosen, MessageText } from './message-draft.ts'
import { UserPicker } from './user-picker.tsx'

const AUDIENCES: readonly Audience[] = ['users', 'groups', 'everybody']

export function RecipientFields(props: { form: DraftForm<MessageText & Chosen> }) {
  const { t } = useTranslation()
  const { draft: chosen, errors, change: onChange } = props.form
  return (
    <fieldset className="tg-form-group">
      <legend>{t('messages.audience')}</legend>
      <Segmented
        label={t('messages.audience')}
        value={chosen.audience}
        choices={AUDIENCES.map((audience) => ({
          value: audience,
          label: t(`messages.audiences.${audience}`),
        }))}
        onChange={(audience) => onChange({ audience })}
      />
      {chosen.audience === 'users' && (
        <UserPicker chosen={chosen.users} onChange={(users) => onChange({ users })} />
      )}
      {chosen.audience === 'groups' && (
        <Groups chosen={chosen.groups} onChange={(groups) => onChange({ groups })} />
      )}
      {chosen.audience === 'everybody' && <p className="tg-hint">{t('messages.everybodyHint')}</p>}
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
  chosen: readonly string[]
  onChange: (chosen: readonly string[]) => void
}) {
  const { chosen, onChange } = props
  const groups = useQuery(groupsQuery).data ?? []
  return (
    <div className="tg-picker-groups">
      {groups.map((name) => (
        <Checkbox
          key={name}
          label={name}
          isOn={chosen.includes(name)}
          onChange={(isOn) =>
            onChange(isOn ? [...chosen, name] : chosen.filter((other) => other !== name))
          }
        />
      ))}
    </div>
  )
}
