import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { groupsQuery } from '#console/api/groups/list-groups.ts'
import { FormField } from '#console/ui/form-field.tsx'
import { Select, TextInput } from '#console/ui/inputs.tsx'
import type { UserFormProps } from './user-draft.ts'
import { asksReason } from './user-draft.ts'

const REASON_MAX = 200

/** The group, and the reason for another one. */
export function GroupFields({ before, draft, faults, onChange }: UserFormProps): ReactElement {
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery).data ?? []
  const names = [...new Set([...groups, before.group])]
  return (
    <>
      <FormField label={t('users.group')} hint={t('users.groupHint')}>
        {(control) => (
          <Select
            {...control}
            value={draft.group}
            choices={names.map((name) => ({ value: name, label: name }))}
            onChange={(group) => onChange({ group })}
          />
        )}
      </FormField>
      {asksReason(before, draft) && (
        <FormField
          label={t('users.reason')}
          hint={t('users.reasonHint')}
          error={faults.reason && t(`users.fault.${faults.reason}`)}
          isRequired
        >
          {(control) => (
            <TextInput
              {...control}
              autoComplete="off"
              maxLength={REASON_MAX}
              placeholder={t('users.groupReasonPlaceholder')}
              value={draft.reason}
              onChange={(reason) => onChange({ reason })}
            />
          )}
        </FormField>
      )}
    </>
  )
}
