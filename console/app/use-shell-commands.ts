import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { useUser } from '#console/api/session.ts'
import { changeLanguage, currentLanguage, LANGUAGES } from '#console/i18n/i18n.ts'
import { chooseTheme, useTheme } from '#console/theme/theme-mode.ts'
import { type Command, useCommands } from '#console/ui/commands/command.ts'
import { copyText } from '#console/ui/elements/copy-text.ts'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import { useStatus } from '../api/status.ts'
import { useLogout } from './account-menu.tsx'
import { LANGUAGE_NAMES } from './language-menu.tsx'
import { GO_KEYS, navItems } from './navigation.ts'

const FOUND_BY_MORE = ['channels', 'me', 'settings', 'tokens', 'wallet'] as const
type FoundByMore = (typeof FOUND_BY_MORE)[number]
const isFoundByMore = (label: string): label is FoundByMore =>
  FOUND_BY_MORE.some((name) => name === label)

export function useShellCommands(onSheet: () => void): void {
  const { t } = useTranslation()
  const actions = useActions()
  useCommands([
    ...useGoing(),
    ...actions,
    {
      id: 'sheet',
      title: t('commands.sheet'),
      section: 'action',
      keys: '?',
      icon: 'keyboard',
      perform: onSheet,
    },
    {
      id: 'search',
      title: t('commands.focusSearch'),
      section: 'action',
      keys: '/',
      icon: 'search',
      isKeyOnly: true,
      perform: focusSearch,
    },
  ])
}

function useGoing(): Command[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const items = navItems(useUser(), useStatus())
  const pages = items.map(
    ({ label, path, icon }): Command => ({
      id: `go-${label}`,
      title: t('commands.goTo', { page: t(`shell.${label}`) }),
      section: 'go',
      keys: `g ${GO_KEYS[label]}`,
      keywords: isFoundByMore(label) ? t(`commands.keywords.${label}`) : '',
      icon,
      perform: () => void navigate(path),
    }),
  )
  const start: Command = {
    id: 'go-start',
    title: t('commands.goTo', { page: t('shell.start') }),
    section: 'go',
    icon: 'play',
    perform: () => void navigate('/app/start'),
  }
  return [...pages, start]
}

function useActions(): Command[] {
  const { t } = useTranslation()
  const isDark = useTheme() === 'dark'
  const logout = useLogout()
  const copyLink = async () => {
    if (await copyText(window.location.href)) showSuccess(t('commands.linkCopied'))
  }
  const others = LANGUAGES.filter((language) => language !== currentLanguage())
  return [
    {
      id: 'copy-link',
      title: t('shared.copyLink'),
      section: 'action',
      keys: 'c',
      icon: 'link',
      perform: () => void copyLink(),
    },
    {
      id: 'theme',
      title: isDark ? t('shell.toLight') : t('shell.toDark'),
      section: 'action',
      icon: isDark ? 'sun' : 'moon',
      perform: () => chooseTheme(isDark ? 'light' : 'dark'),
    },
    ...others.map((language) => ({
      id: `language-${language}`,
      title: t('commands.chooseLanguage', { name: LANGUAGE_NAMES[language] }),
      section: 'action' as const,
      icon: 'language' as const,
      perform: () => void changeLanguage(language).catch(showError),
    })),
    {
      id: 'log-out',
      title: t('shell.logout'),
      section: 'action',
      icon: 'logOut',
      perform: logout,
    },
  ]
}

function focusSearch(): void {
  const inputs = document.querySelectorAll<HTMLInputElement>('#main search input')
  const field = [...inputs].find(({ type }) => type === 'search') ?? inputs[0]
  field?.focus()
  field?.select()
}
