import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { isNotFound } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { userQuery, usersKey } from '#console/api/user-queries.ts'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { useDialogItem } from '#console/ui/dialogs/use-dialog-item.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { ButtonLink } from '#console/ui/elements/button-link.tsx'
import { HistoryLink } from '#console/ui/elements/history-link.tsx'
import { useFirstVersion } from '#console/ui/forms/use-first-version.ts'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { FormSkeleton } from '#console/ui/layout/skeleton.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { User } from '#read-api/contract/users.ts'
import { useBalances } from '../quota/use-balance-adjustment.ts'
import { type Actor, displayNameOf, permittedActions } from '../user-state-and-permitted-actions.ts'
import { DangerZoneAction } from './danger-zone-action.tsx'
import { type UserFormOptions, useUserForm } from './use-user-form.ts'
import { Bindings, QuotaChanges, UserDetails } from './user-details.tsx'
import { UserForm } from './user-form.tsx'

type FormProps = UserFormOptions & {
  kind: 'new' | 'existing'
  children?: ReactNode
}

function UserFormDrawer(props: FormProps) {
  const { kind, user } = props
  const { t } = useTranslation()
  const form = useUserForm(props)
  const isNew = kind === 'new'
  const name = user === null ? '' : displayNameOf(user)
  return (
    <FormDrawer
      isOpen={props.isOpen}
      title={isNew ? t('users.create') : t('users.editTitle', { name })}
      lead={t(`users.lead.${kind}`)}
      submitText={t(isNew ? 'users.create' : 'shared.saveChanges')}
      form={form}
      onClose={props.onClose}
    >
      <UserForm kind={kind} form={form} />
      {props.children}
    </FormDrawer>
  )
}

/** Erases the personal data of a user, which can't be undone. Only super admins can do this. */
function EraseUser(props: { user: User; onDone: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { user } = props
  const erase = async () => {
    await call('POST /api/user/erase', { body: { id: user.id, username: user.username } })
    await client.invalidateQueries({ queryKey: usersKey })
    showSuccess(t('users.erased'), { staysOnNavigation: true })
    props.onDone()
  }
  return (
    <DangerZoneAction
      user={user}
      action="erase"
      icon="trash"
      actionText={t('users.eraseAction')}
      perform={erase}
    />
  )
}

/**
 * Shows the balance, and opens the form that changes it. An admin can add or deduct an amount, but
 * can't set the balance to a value.
 */
function BalanceSection(props: { user: User; onAdjust: (users: readonly User[]) => void }) {
  const { user } = props
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const balance = useBalances([user]).get(user.id) ?? quotaOf(user.quota)
  return (
    <section className="tg-user-part tg-user-balance">
      <div>
        <h3>{t('shared.balance')}</h3>
        <p className="tg-amount">{exactQuotaText(balance, rule)}</p>
        {rule.isCurrency && (
          <p className="tg-hint">{t('shared.quotaUnits', { quota: balance.toLocaleString() })}</p>
        )}
      </div>
      <Button icon="wallet" onClick={() => props.onAdjust([user])}>
        {t('users.adjustOpen')}
      </Button>
    </section>
  )
}

type DrawerProps = {
  edited: number | 'new' | null
  actor: Actor
  onAdjust: (users: readonly User[]) => void
  onClose: () => void
}

export function UserDrawer(props: DrawerProps) {
  const { onClose, actor, onAdjust } = props
  const { isOpen, lastItem, key } = useDialogItem(props.edited)
  const drawerProps = { key: `${lastItem} ${key}`, isOpen, onClose }
  return lastItem === null || lastItem === 'new' ? (
    <UserFormDrawer {...drawerProps} kind="new" user={null} />
  ) : (
    <UserDrawerContent {...drawerProps} actor={actor} onAdjust={onAdjust} id={lastItem} />
  )
}

type UserDrawerContentProps = Omit<DrawerProps, 'edited'> & { isOpen: boolean; id: number }

function UserDrawerContent(props: UserDrawerContentProps) {
  const { t } = useTranslation()
  const stored = useQuery({ ...userQuery(props.id), enabled: props.isOpen && props.id > 0 })
  const loaded = useFirstVersion(stored)
  const drawerProps = { isOpen: props.isOpen, onClose: props.onClose }
  if (loaded === null) {
    const isMissing = props.id === 0 || isNotFound(stored.error)
    return (
      <Drawer {...drawerProps} title={t('users.editPending')}>
        {isMissing ? (
          <div role="alert">
            <EmptyState icon="alert" title={t('users.missing')} />
          </div>
        ) : stored.error === null ? (
          <FormSkeleton fields={5} />
        ) : (
          <ErrorState error={stored.error} onRetry={() => void stored.refetch()} />
        )}
      </Drawer>
    )
  }
  const permitted = permittedActions(loaded, props.actor)
  const sections = (
    <>
      {permitted.has('adjust') && (
        <BalanceSection user={stored.data ?? loaded} onAdjust={props.onAdjust} />
      )}
      <Bindings user={loaded} />
      <AuditLinks userId={loaded.id} />
      <QuotaChanges username={loaded.username} />
      {permitted.has('resetSecondFactor') && loaded.has_second_factor !== false && (
        <ResetSecondFactor user={loaded} />
      )}
      {permitted.has('erase') && <EraseUser user={loaded} onDone={props.onClose} />}
    </>
  )
  if (permitted.has('edit')) {
    return (
      <UserFormDrawer {...drawerProps} kind="existing" user={loaded}>
        {sections}
      </UserFormDrawer>
    )
  }
  const isDeactivated = loaded.DeletedAt !== null
  return (
    <Drawer
      {...drawerProps}
      title={displayNameOf(loaded)}
      lead={t(isDeactivated ? 'users.deactivatedLead' : 'users.notPermittedLead')}
    >
      <UserDetails user={loaded} />
      {sections}
    </Drawer>
  )
}

/**
 * Removes the second factors of a user who can't log in after losing both the second factors and
 * the recovery codes.
 */
function ResetSecondFactor({ user }: { user: User }) {
  const { t } = useTranslation()
  return (
    <DangerZoneAction
      user={user}
      action="secondFactor"
      icon="key"
      actionText={t('users.secondFactor')}
      perform={async () => {
        await call('POST /api/user/reset_second_factor', { body: { id: user.id } })
        showSuccess(t('users.secondFactorDone'))
      }}
    />
  )
}

function AuditLinks({ userId }: { userId: number }) {
  const { t } = useTranslation()
  return (
    <div className="tg-actions">
      <ButtonLink icon="book" to={`/app/audit/ledgers/${userId}`}>
        {t('shell.ledgers')}
      </ButtonLink>
      <HistoryLink object={`user:${userId}`} />
    </div>
  )
}
