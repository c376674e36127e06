import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { groupsQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { usersQuery } from '#console/api/user-queries.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { Checkbox, Segmented } from '#console/ui/forms/choice-inputs.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { SearchInput } from '#console/ui/forms/search-input.tsx'
import type { DraftForm } from '#console/ui/forms/use-draft-form.ts'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import type { User } from '#read-api/contract/users.ts'
import type { Audience, MessageText, Recipients } from './message-draft-and-text-fields.tsx'
import { CompactPagination } from './recipient-table.tsx'

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
        choices={choicesOf(AUDIENCES, (audience) => t(`messages.audiences.${audience}`))}
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

const PAGE_SIZE = 20

function UserPicker(props: {
  selected: ReadonlyMap<number, string>
  onChange: (selected: ReadonlyMap<number, string>) => void
}) {
  const { t } = useTranslation()
  const { selected, onChange } = props
  const [search, setSearch] = useState({ keyword: '', page: 0 })
  const { page } = search
  const keyword = search.keyword.trim()
  const list = useQuery(usersQuery({ keyword, group: '', page, pageSize: PAGE_SIZE }))
  const toggle = (user: User, isOn: boolean) => {
    const next = new Map(selected)
    if (isOn) next.set(user.id, user.username)
    else next.delete(user.id)
    onChange(next)
  }
  return (
    <div className="tg-picker">
      <SearchInput
        label={t('messages.searchUsers')}
        value={search.keyword}
        onChange={(text) => setSearch({ keyword: text, page: 0 })}
      />
      <QueryView query={list} height={160}>
        {({ items }) => <Users users={items} selected={selected} onToggle={toggle} />}
      </QueryView>
      <div className="tg-picker-foot">
        <span>{t('shared.usersSelected', { count: selected.size })}</span>
        {selected.size > 0 && (
          <Button tone="quiet" size="small" onClick={() => onChange(new Map())}>
            {t('messages.clearSelection')}
          </Button>
        )}
        <CompactPagination
          page={page}
          pageSize={PAGE_SIZE}
          total={list.data?.total ?? 0}
          onPage={(next) => setSearch({ ...search, page: next })}
        />
      </div>
    </div>
  )
}

function Users(props: {
  users: readonly User[]
  selected: ReadonlyMap<number, string>
  onToggle: (user: User, isOn: boolean) => void
}) {
  const { t } = useTranslation()
  if (props.users.length === 0) return <p className="tg-hint">{t('messages.noUsers')}</p>
  return (
    <ul className="tg-picker-users" aria-label={t('messages.audiences.users')}>
      {props.users.map((user) => (
        <li key={user.id}>
          <Checkbox
            label={<Name user={user} />}
            isOn={props.selected.has(user.id)}
            isDisabled={user.DeletedAt !== null}
            onChange={(isOn) => props.onToggle(user, isOn)}
          />
        </li>
      ))}
    </ul>
  )
}

function Name({ user }: { user: User }) {
  const { t } = useTranslation()
  const { id, username, display_name: displayName } = user
  return (
    <>
      {username === '' ? `#${id}` : username}{' '}
      <span className="tg-quiet">
        {user.DeletedAt !== null
          ? t('users.state.deactivated')
          : displayName !== '' && displayName !== username
            ? `${displayName} · #${id}`
            : `#${id}`}
      </span>
    </>
  )
}
