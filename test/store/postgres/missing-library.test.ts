// Missing system libraries of PostgreSQL's programs: the sentence that names them.
import t from 'tap'
import { missingLibraryMessage } from '../../../lib/store/postgres/embedded/missing-library.ts'

const loaderText = (library: string) =>
  `/app/bin/postgres: error while loading shared libraries: ${library}: cannot open shared object file: No such file or directory`

t.test('a known library is named with the commands that install it', async t => {
  const message = missingLibraryMessage(loaderText('libstdc++.so.6'))
  t.match(message, /lacks the library libstdc\+\+\.so\.6; install it with "apt-get install/)
  t.match(message, /"apt-get install libstdc\+\+6".*"dnf install libstdc\+\+"/)
  t.match(missingLibraryMessage(loaderText('libgcc_s.so.1')), /install libgcc-s1/)
})

t.test('another library is only named', async t => {
  const text = loaderText('libicuuc.so.60')
  t.match(missingLibraryMessage(text), /lacks the library libicuuc\.so\.60$/)
})

t.test('other failures are left as they are', async t => {
  t.equal(missingLibraryMessage('FATAL: could not create lock file: No space left'), null)
})
