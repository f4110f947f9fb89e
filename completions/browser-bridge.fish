complete -c browser-bridge -l browser -d 'The browser to run [default: chromium, google-chrome or similar on PATH]' -r -F
complete -c browser-bridge -l user-data -d 'Keep the profile (logins, history) in this folder; by default it is a new folder that is removed at the end' -r -F
complete -c browser-bridge -l attach -d 'Use a browser that is already open, and leave it open: its profile folder, a ws:// or wss:// address, or http(s)://HOST:PORT' -r
complete -c browser-bridge -l attach-header -d 'Send this header (\'Name: value\') to the address of --attach; ${VAR} is replaced from the environment; may be repeated' -r
complete -c browser-bridge -l viewport -d 'Size of the page, such as 1280x720' -r
complete -c browser-bridge -l locale -d 'Language to request from pages, such as de-DE' -r
complete -c browser-bridge -l proxy -d 'Proxy for all requests: http://HOST:PORT or socks5://HOST:PORT' -r
complete -c browser-bridge -l download-dir -d 'Save downloads in this folder; without it they are refused' -r -F
complete -c browser-bridge -l upload-root -d 'Let browser_upload use the files in this folder; without it uploads are refused' -r -F
complete -c browser-bridge -l storage-state -d 'Load cookies and local storage from this file, if it exists, and save them to it at the end' -r -F
complete -c browser-bridge -l save-media -d 'Save screenshots and PDFs in this folder [default: a new folder in the temporary folder, which is kept]' -r -F
complete -c browser-bridge -l route -d 'Answer requests from this file: one JSON object per line, with url (* stands for any text) and method, status, headers, body or body_file' -r -F
complete -c browser-bridge -l har -d 'Write the requests of all pages to this file, as HTTP Archive (HAR 1.2), without contents and with secrets masked' -r -F
complete -c browser-bridge -l allow-origin -d 'Allow pages at this origin (http://HOST:PORT, HOST or *.DOMAIN), even on this machine or a private network, which are otherwise refused; may be repeated' -r
complete -c browser-bridge -l fence -d 'What these permissions apply to: documents, or all that pages load, with WebSockets and WebRTC, through a proxy of our own' -r -f -a "documents\t''
all\t''"
complete -c browser-bridge -l allow-file -d 'Allow pages from this file or folder (file: addresses are otherwise refused); may be repeated' -r -F
complete -c browser-bridge -l settle -d 'After an action, wait for: none, dom (the page stops changing), network (it also stops loading) or fixed (--pause)' -r -f -a "none\t''
dom\t''
network\t''
fixed\t''"
complete -c browser-bridge -l pause -d 'How long --settle fixed waits' -r
complete -c browser-bridge -l timeout -d 'Time limit of a call; 0 means no limit' -r
complete -c browser-bridge -l deadline -d 'Overall time limit; unanswered calls fail with `timeout` (exit status 124)' -r
complete -c browser-bridge -l restart -d 'How many times a crashed browser is restarted; a minute without a crash resets the count' -r
complete -c browser-bridge -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c browser-bridge -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c browser-bridge -l headless -d 'Show no window; the default if there is no display'
complete -c browser-bridge -l headed -d 'Show a window, which a person can use at the same time; the default if there is a display'
complete -c browser-bridge -l touch -d 'Act as a touch screen, with pages laid out as on a phone (390x844 without --viewport)'
complete -c browser-bridge -l dark -d 'Ask pages for dark colours'
complete -c browser-bridge -l allow-evaluate -d 'Offer browser_evaluate, which runs JavaScript in pages'
complete -c browser-bridge -s h -l help -d 'Print help (see more with \'--help\')'
complete -c browser-bridge -s V -l version -d 'Print version'
