complete -c browser-bridge -l browser -d 'The browser\'s program [default: chromium, google-chrome and their like on PATH]' -r -F
complete -c browser-bridge -l user-data -d 'Keep the profile (logins, history) in this folder; by default it is a new one that is removed at the end' -r -F
complete -c browser-bridge -l attach -d 'Use a browser that is open already, and leave it open: the folder of its profile, a ws:// address, or http://HOST:PORT' -r
complete -c browser-bridge -l viewport -d 'The size of the page\'s window, such as 1280x720' -r
complete -c browser-bridge -l locale -d 'The language that pages are asked for, such as de-DE' -r
complete -c browser-bridge -l proxy -d 'The proxy for all requests: http://HOST:PORT or socks5://HOST:PORT' -r
complete -c browser-bridge -l download-dir -d 'Save files that pages offer for download in this folder; without it they are refused' -r -F
complete -c browser-bridge -l upload-root -d 'Let browser_upload use the files in this folder; without it uploads are refused' -r -F
complete -c browser-bridge -l storage-state -d 'Load cookies and local storage from this file, if it is there, and save them to it at the end' -r -F
complete -c browser-bridge -l save-media -d 'Save screenshots and PDFs in this folder [default: a new folder in that for temporary files, which stays]' -r -F
complete -c browser-bridge -l allow-origin -d 'Let pages be at this origin (http://HOST:PORT, HOST or *.DOMAIN) even if it is this machine or a private network; may be given more than once' -r
complete -c browser-bridge -l allow-file -d 'Let pages be in this file or folder (file: addresses are refused otherwise); may be given more than once' -r -F
complete -c browser-bridge -l settle -d 'Wait so after an action: none, dom (the page stops changing), network (it also stops loading) or fixed (--pause)' -r -f -a "none\t''
dom\t''
network\t''
fixed\t''"
complete -c browser-bridge -l pause -d 'How long settle=fixed waits' -r
complete -c browser-bridge -l timeout -d 'How long a call may take; 0 is for ever' -r
complete -c browser-bridge -l deadline -d 'Overall time limit; unanswered calls fail with kind timeout, and the exit status is 124' -r
complete -c browser-bridge -l restart -d 'How often a browser that has crashed is started again; a minute without a crash restores the count' -r
complete -c browser-bridge -l max-line -d 'Longest line that is parsed, in bytes (K, M, G for powers of 1024); a longer one is reported and not acted on' -r
complete -c browser-bridge -l max-depth -d 'Deepest nesting of arrays and objects that is parsed; a deeper line is reported and not acted on' -r
complete -c browser-bridge -l headless -d 'Show no window; the default where there is no display'
complete -c browser-bridge -l headed -d 'Show a window, which a person can use at the same time; the default where there is a display'
complete -c browser-bridge -l allow-evaluate -d 'Offer browser_evaluate, which runs JavaScript in pages'
complete -c browser-bridge -s h -l help -d 'Print help (see more with \'--help\')'
complete -c browser-bridge -s V -l version -d 'Print version'
