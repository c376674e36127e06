import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { groupsQuery } from '#console/api/groups/list-groups.ts'
import { FormField } from '#console/ui/form-field.tsx'
import { Select, TextInput } from '#console/ui/inputs.tsx'
import { exactQuotaText } from '#console/ui/money.ts'
import { useMoneyRule } from '#console/ui/quota.tsx'
import { asksReason, quotaFault, quotaOfText, type UserDraft } from './user-draft.ts'
import type { UserFormProps } from './user-form.tsx'

const REASON_MAX = 200

/** Group and balance; whoever changes one of them says why. */
export function QuotaFields(props: UserFormProps): ReactElement {
  const { before, draft, faults, onChange } = props
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const quota = quotaOfText(draft.quota)
  // Told as it is typed: what can't be saved is worth nothing either.
  const typed = draft.quota.trim() === '' ? undefined : quotaFault(before, draft)
  const fault = faults.quota ?? typed
  const hint = () => {
    if (quota === null || fault !== undefined) return undefined
    const money = exactQuotaText(quota, { ...rule, isCurrency: true })
    if (draft.quota.trim() === before.quota) return t('users.quotaMoney', { money })
    const change = quota - (quotaOfText(before.quota) ?? 0n)
    const changeText = `${change > 0n ? '+' : ''}${change.toString()}`
    return t('users.quotaChange', { money, change: changeText })
  }
  return (
    <>
      <GroupField {...props} />
      <FormField
        label={t('users.quotaUnits')}
        hint={hint()}
        error={fault && t(`users.fault.${fault}`)}
      >
        {(control) => (
          <TextInput
            {...control}
            className="tg-input-short"
            inputMode="numeric"
            autoComplete="off"
            maxLength={17}
            value={draft.quota}
            onChange={(text) => onChange({ quota: text })}
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
              placeholder={t('users.reasonPlaceholder')}
              value={draft.reason}
              onChange={(reason) => onChange({ reason })}
            />
          )}
        </FormField>
      )}
    </>
  )
}

function GroupField(props: {
  before: UserDraft
  draft: UserDraft
  onChange: (patch: Partial<UserDraft>) => void
}): ReactElement {
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery).data ?? []
  const names = [...new Set([...groups, props.before.group])]
  return (
    <FormField label={t('users.group')} hint={t('users.groupHint')}>
      {(control) => (
        <Select
          {...control}
          value={props.draft.group}
          choices={names.map((name) => ({ value: name, label: name }))}
          onChange={(group) => props.onChange({ group })}
        />
      )}
    </FormField>
  )
}
