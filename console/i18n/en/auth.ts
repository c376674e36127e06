import type { Words } from '../i18n.ts'

export const auth: Words['auth'] = {
  title: 'Sign in',
  welcome: 'Sign in to {{name}}',
  lead: 'Channels, API tokens and usage in one place',
  username: 'Username or email',
  password: 'Password',
  submit: 'Sign in',
  needBoth: 'Please enter your username and password!',
  expired: 'Not logged in or login expired, please log in again!',
  success: 'Signed in!',
  loggedOut: 'Signed out!',
  defaultPassword: 'You are using the default password! Please change it right away!',
  repeated: 'Submission failed, please do not submit twice!',
}
