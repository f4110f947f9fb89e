//! Tools that are judged by their names alone: services, versions and cases; verbs in other forms.

use super::arguments::{assert_asked, assert_unasked};
use serde_json::json;

/// A service, a verb that reads, an object and a version, in many spellings.
const READING: &str = "garden_listPlantsV1 garden_listPlants garden_listPlants_v2 garden-list-plants-v1 garden.listPlantsV1 \
    gardenListPlantsV1 garden_list_plants_v1 GARDEN_LIST_PLANTS_V2 Garden_ListPlantsV3 garden/listPlants/v1 \
    garden__listPlantsV1 garden_listPlants_2024-01-01 garden_getPlantV1 garden_searchPlantsV2 garden-api_list_plants \
    garden-api_listPlantsV1 acme-garden_listPlants acme_garden_listPlantsV2 garden_viewPlantV1 \
    garden_checkPlantHealth garden_findPlantByIdV1 garden_countPlantsV1 message_listThreads message_getThread \
    message-listThreads message_listThreadsV1 message_searchThreads message_countUnread messages_listThreads \
    message.listThreads mailbox_listThreads mail_listFolders mail_getFolder email_getThreadV2 email_listDrafts \
    order_getStatus order_getStatusV2 order_listItems order_get_status order-get-status orderGetStatus order_list \
    order_status order_status_v2 order_statusV1 orders_list orders_listV1 order_checkStatus order.getStatus \
    order_getHistory order_findById order_fetchDetails post_listDrafts post_getDraft post_listDraftsV1 post_get \
    post_list post_listV2 post_getStats post_countViews post_searchPosts post_retrieveDrafts store-api_listItemsV1 \
    store_listItems store_getItemV1 store-api_getItem store.listItems storeApi_listItemsV2 store-api_list-items \
    my-store_listItems book_getAvailability book_searchTitles book_listChapters schedule_listEvents schedule_get \
    schedule_getEventV1 call_getTranscript call_listRecordings report_getSummary report_listReports transfer_get \
    transfer_getFee transfer_listRecipients trade_getHistory charge_getDetails build_getLogs build_listArtifacts \
    release_listAssets release_getLatest test_listResultsets track_getLocation track_listShipments ship_getRates \
    shipping_getRatesV1 index_getStats queue_listJobs queue_getDepth note_listNotebooks note_getNote \
    comment_listReplies contact_listGroups contact_getContactV1 label_listLabels tag_listTags group_listMembers \
    group_getMember label_get stream_listTopics stage_getStage plan_getPlanV1 plan_listPlans issue_listComments \
    issue_getIssue pull_listRequests deploy_getStatus update_getStatus upload_getProgress import_getStatusV1 \
    get_order_status_v1 list_messages_v2 listItemsV1 getItemV2beta1 get_items_v1.2 pets_listV1 v1_list_pets \
    api_v2_listUsers users_getUserV1 inventory_listItemsV3 weather_getForecastV1 booking_getDetails \
    billing_listInvoicesV1 payments_listMethods getDeletedItems deleted_items_list tweets_list tweets_by_user \
    patches_list bans_list updates_list uploads_list list_posts_and_updates highlight_element browser_highlight \
    get_highlights highlights_list training_status moving_average closing_price orders_by_customer posts_by_author \
    settings_list order_fetch_details message_retrieve_thread post_find_by_author order_describe_item";
/// The same spellings, with an effect.
const CHANGING: &str = "order_create post_publishDraft store-api_deleteItemV1 message_send list_deleteItem get_and_delete listAndPurge \
    read_then_write garden_deletePlantV1 garden_waterPlant garden_plantSeed garden_updatePlantV2 \
    garden_listAndDelete message_sendThread message_deleteThreadV1 message_replyToThread message_listThenDelete \
    message_listAndSend order_placeOrder order_cancel order_cancelV1 order_getAndPay order_getOrCreate \
    order_updateStatus order_createItemV2 order_confirmV1 order_pizza orderV1 order_v2 post_createDraft post_draft \
    post_schedulePost post_setStatus post_updateDraftV1 post_message post_listItem_delete store-api_createItemV1 \
    store-api_updateItem store-api_delete_item store_saveItem store_item_v1 store_put book_flight book_hotelV1 \
    book_createBooking schedule_createEvent schedule_meeting_v2 call_startCall call_contact report_user \
    report_submitReport report_abuse transfer_funds transfer_createTransfer transfer_moneyV1 trade_execute \
    trade_placeOrder charge_card charge_createV1 charge_list send_list build_start release_publishV1 \
    track_deleteShipment ship_createLabel ship_order index_rebuild queue_purgeV1 queue_deleteJobs note_createNote \
    comment_addReply contact_updateGroup group_removeMember group_addMemberV1 plan_cancelPlan issue_closeIssue \
    deploy_start deploy_app_v2 update_listItem update_viewState set_viewMode set_searchIndex create_viewV1 \
    delete_listV1 delete_getStatus delete_listItems remove_listItems upload_file_v1 send_readReceipt \
    message_readReceipt email_searchResults book_showTickets post_searchResults post_matchResult update_searchIndex \
    frobnicateV1 frobnicate_v2 garden_frobnicateV1 garden_frobnicate_list frobnicate_list frobnicate_listV1 \
    list_orders_and_cancel get_user_then_ban find_and_replace_v2 checkout_complete pay_v1 purchase_item \
    refund_create publish_v1 deploy_prod exec_listItems run_getStatus_script merge_list_items format_list_items \
    check_transferFunds search_postMessage view_mergePullRequest count_blockUser check-api_transferFunds \
    view_spendCredit check_processPayment CheckApi_transferFunds \
    email_list_and_send power_off_dropletV1 post_checkIn order_checkOut order_signIn";
/// Verbs in the third person and as gerunds, before words that a name without a verb shows.
const OTHER_FORMS: &str = "deletes_log deletes_logs deleting_log deleting_logs removes_history removing_history clears_context clears_logs \
    clearing_logs purges_messages purging_messages wipes_metadata wiping_logs drops_schema dropping_schema \
    dropping_table_view drops_table_view drops_view resets_stats resetting_stats erases_transcript erasing_log \
    destroys_log destroying_log truncates_logs truncating_log updates_title updating_title updates_schema sets_title \
    setting_the_title edits_schema editing_schema modifies_schema modifying_schema applies_schema sends_log \
    sends_quote sending_quote sends_mail sends_message sends_news shares_screenshot sharing_screenshot \
    forwards_messages uploads_logs uploading_logs publishes_news publishing_news starts_tools stops_logs \
    stopping_events cancels_events cancelling_events canceling_events revokes_tools kills_tools killing_tools \
    installs_tools installing_tools disables_logs enabling_tools pays_price buys_quote adds_log adding_log \
    creates_log creating_schema inserts_log writes_log writing_log writes_docs overwrites_docs overwriting_docs \
    moves_log renames_title renaming_title deletes_by_id removes_by_name deleting_by_id sends_by_email \
    user_deletes_log user_removes_events bot_deleting_logs account_deletes_history deletes_list removes_list \
    deletes_search deletes_view recreates_log unassigns_title list_users_and_deletes_logs \
    get_users_and_removes_sessions list_users_and_deletes fetch_logs_and_updates_status list_users_then_sends_mail \
    executes_tools executing_tools evaluates_tools log_deletion user_removal record_delete";
/// Verbs that change how something looks.
const MARKING: &str = "highlight_table_header highlight_cells highlight_row highlight_text highlight_rangeV1 highlights_title \
    highlighting_title emphasize_title emphasise_text mark_title annotate_image tag_image color_header colour_title \
    underline_title bold_text unhighlight_cells table_highlight flag_message star_message italicize_text shade_cells \
    shred_logs shreds_logs nuke_history nukes_history";

#[test]
fn a_services_method_that_reads_needs_no_approval() {
    assert_unasked(&READING.split(' ').map(|tool| (tool, json!({}))).collect::<Vec<_>>());
}

#[test]
fn a_services_method_with_an_effect_needs_approval() {
    assert_asked(&CHANGING.split(' ').map(|tool| (tool, json!({}))).collect::<Vec<_>>());
}

#[test]
fn other_forms_of_verbs_need_approval() {
    assert_asked(&[OTHER_FORMS, MARKING].join(" ").split(' ').map(|tool| (tool, json!({}))).collect::<Vec<_>>());
}
