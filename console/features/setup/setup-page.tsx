import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router-dom'
import { apiQuery, call } from '#console/api/client.ts'
import { clearUser, storeUser } from '#console/api/session.ts'
import { RadioCards } from '#console/ui/forms/choice-inputs.tsx'
import {
  type AccountDraft,
  type AccountErrorKey,
  AccountFields,
  EMPTY_ACCOUNT,
  validateAccount,
} from '#console/ui/forms/new-account-fields.tsx'
import { useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { SingleTaskForm, SingleTaskPage } from '#console/ui/layout/single-task-page.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import type { Setup } from '#write-api/contract/registration-password-reset-and-setup.ts'

const databaseName = (type: string): string => (type === 'postgres' ? 'PostgreSQL' : type)

export function SetupPage() {
  const { t } = useTranslation()
  const { data, isError, refetch } = useQuery(setupStatusQuery)
  return (
    <SingleTaskPage
      title={t('setup.title')}
      lead={data?.root_init === true ? t('setup.accountReady') : t('setup.lead')}
      isWide
    >
      {isError ? (
        <ErrorState error={new Error(t('setup.statusFailed'))} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton height={320} />
      ) : (
        <SetupForm isRootReady={data.root_init} />
      )}
      {data !== undefined && (
        <p className="tg-entry-foot">
          {t('setup.database', { name: databaseName(data.database_type) })}
        </p>
      )}
    </SingleTaskPage>
  )
}

const setupStatusQuery = apiQuery('GET /api/setup')

type UsageMode = 'external' | 'self' | 'demo'

type SetupDraft = AccountDraft & { mode: UsageMode }

const EMPTY_SETUP: SetupDraft = { ...EMPTY_ACCOUNT, mode: 'external' }

/**
 * Returns the body of the setup request. `token` is the setup token that the server prints in its
 * log, or null. The server requires the token for a setup from another machine.
 */
function setupBody(draft: SetupDraft, token: string | null): Setup {
  return {
    username: draft.username.trim(),
    password: draft.password,
    confirmPassword: draft.confirmPassword,
    SelfUseModeEnabled: draft.mode === 'self',
    DemoSiteEnabled: draft.mode === 'demo',
    ...(token === null ? {} : { setup_token: token }),
  }
}

/** The time (ms) for which the success message is shown before the next page opens. */
const LEAVE_DELAY_MS = 1_500

const MODES: readonly UsageMode[] = ['external', 'self', 'demo']

function SetupForm(props: { isRootReady: boolean }) {
  const { t } = useTranslation()
  const [params] = useSearchParams()
  const [isDone, setDone] = useState(false)
  const form = useDraftForm<SetupDraft, AccountErrorKey>({
    initial: () => EMPTY_SETUP,
    // If the super admin already exists, the form contains only the mode.
    validate: (draft) => (props.isRootReady ? {} : validateAccount(draft)),
    errorText: (errorKey) =>
      t(errorKey === 'passwordsDiffer' ? 'ui.passwordsDiffer' : `setup.${errorKey}`),
    save: async (draft) => {
      if (isDone) return
      const user = await setUp(setupBody(draft, params.get('token')), t('setup.failed'))
      // If the setup has created no user, the user stored in this browser is from an earlier
      // installation.
      if (user === null) clearUser()
      else storeUser(user)
      setDone(true)
      const path = user === null ? '/login' : '/app/start'
      setTimeout(() => window.location.assign(path), LEAVE_DELAY_MS)
    },
    showsFormError: true,
  })
  return (
    <SingleTaskForm
      form={form}
      submitText={t('setup.submit')}
      done={isDone ? t('setup.done') : undefined}
    >
      {!props.isRootReady && <AccountFields form={form} textGroup="setup" isWide />}
      <RadioCards
        label={t('setup.mode')}
        choices={MODES.map((mode) => ({
          value: mode,
          label: t(`setup.${mode}`),
          hint: t(`setup.${mode}Hint`),
        }))}
        {...form.field('mode')}
      />
    </SingleTaskForm>
  )
}

const setUp = (body: Setup, failed: string) =>
  call('POST /api/setup', { body }).catch((error: unknown) => {
    throw error instanceof Error && error.message !== '' ? error : new Error(failed)
  })
